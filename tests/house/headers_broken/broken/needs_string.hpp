// SPDX-License-Identifier: Apache-2.0
// Deliberately not self-contained: shows that shoal_header_units() detects this.
#pragma once

inline std::string name() { return "x"; }
