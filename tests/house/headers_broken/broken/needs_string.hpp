// SPDX-License-Identifier: Apache-2.0
// Not self-contained on purpose: shows that shoal_header_units() notices.
#pragma once

inline std::string name() { return "x"; }
