# SPDX-License-Identifier: Apache-2.0
"""How compare.py draws a sweep: bars of text, and an SVG file with a line for each library and number of processes."""
import math
from xml.sax.saxutils import escape

COLOURS = ["#1f6fb4", "#d1650b", "#2b8a3e", "#9c36b5", "#c92a2a", "#495057"]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 400, 70, 40, 170, 50


def bars(values, width=50):
    """values: (name, number) pairs; the longest bar is the largest number."""
    most = max(value for _, value in values) or 1
    names = max(len(name) for name, _ in values)
    return "\n".join(f"  {name:<{names}} {'#' * max(1, round(value / most * width))} {value:.4g}" for name, value in values)


def write_svg(path, title, metric, table):
    """table: {form: {metric: {"median": number}}}. Over the ranks of a process; forms with one rank per process are level
    lines."""
    lines, levels = {}, {}
    for form, row in table.items():
        value = row[metric]["median"]
        if form.mpi == "shoal":
            lines.setdefault(f"shoal, {form.processes} processes", []).append((form.ranks, value))
        else:
            levels[str(form)] = value
    every = [value for points in lines.values() for _, value in points] + list(levels.values())
    ranks = [rank for points in lines.values() for rank, _ in points] or [1]
    most, last = max(every) * 1.05 or 1, max(1, math.log2(max(ranks)))

    def x(rank):
        return LEFT + math.log2(rank) / last * (WIDTH - LEFT - RIGHT)

    def y(value):
        return HEIGHT - BOTTOM - value / most * (HEIGHT - TOP - BOTTOM)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}: {escape(metric)}</text>',
             f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">ranks per process</text>']
    for i in range(5):
        value = most * i / 4
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.3g}</text>')
    for rank in sorted(set(ranks)):
        parts.append(f'<text x="{x(rank):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{rank}</text>')
    drawn = [(name, points, "") for name, points in lines.items()]
    drawn += [(name, [(1, value), (max(ranks), value)], ' stroke-dasharray="5,4"') for name, value in levels.items()]
    for i, (name, points, dashes) in enumerate(drawn):
        colour = COLOURS[i % len(COLOURS)]
        path_text = " ".join(f"{x(rank):.1f},{y(value):.1f}" for rank, value in sorted(points))
        parts.append(f'<polyline points="{path_text}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        if not dashes:
            parts += [f'<circle cx="{x(rank):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}"/>' for rank, value in points]
        parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{TOP + 16 * i}" fill="{colour}">{escape(name)}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n</svg>\n")
