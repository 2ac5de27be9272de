# SPDX-License-Identifier: Apache-2.0
set(needs launch_pmix)
