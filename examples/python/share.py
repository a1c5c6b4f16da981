"""Mean delays of jobs that share resources, under each policy, by pfq and Python alone.

    python3 share.py traffic.yaml [POLICIES]

POLICIES are names such as drf,pf; all five by default.
"""

import sys

from sweep import pfq


def main(pool, policies="all"):
    answer = pfq("allocate", pool, "--dynamic", "--policy", policies)
    if answer.get("stable") is False:  # under every policy; not for null, which says that nothing is proved
        print(f"{answer['resource']} is overloaded: {answer['load']:.6g}")
        return
    for one in answer.get("policies", [answer]):
        if "refused" in one:
            print(one["policy"], "no answer:", one["refused"])
            continue
        print(one["policy"], *(f"{c['name']} {c['mean_delay']:.6g}" for c in one["classes"] if c["mean_delay"] is not None))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
