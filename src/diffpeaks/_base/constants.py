"""Numbers that stand for nothing, each defined once."""

NOISE = -1  # the label of a sample in no cluster
NO_POINT = -1  # in the place of a sample where there is none, as in native/graph.hpp
