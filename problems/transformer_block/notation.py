"""The tensors and variables that are given in each part."""

FEED_FORWARD = {"tensors": ["L[T,J]", "W^FF1[F,J]", "B^FF1[F]", "W^FF2[J,F]", "B^FF2[J]"], "target": "O"}
BACKWARD = {"tensors": ["G[T,J]", "s[T,F]", "W^FF1[F,J]", "W^FF2[J,F]"], "target": "D"}
SUBLAYER = {
    "tensors": ["X[T,J]", "W^FF1[F,J]", "B^FF1[F]", "W^FF2[J,F]", "B^FF2[J]", "g[J]", "epsilon"],
    "target": "Y",
    "positive": "epsilon",
}
COUNTS = dict.fromkeys(("N", "J", "F", "K"), "posint")
WIDTHS = {"J": "{2,4,...}", "F": "posint"}
