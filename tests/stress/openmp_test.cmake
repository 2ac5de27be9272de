# SPDX-License-Identifier: Apache-2.0
find_package(OpenMP QUIET COMPONENTS CXX)
set(libraries OpenMP::OpenMP_CXX)
set(unsanitized TRUE)  # the thread sanitizer does not know libgomp's barriers
