from autograder import Function, Growth, Problem, close, sizes, tensors


def inputs(rng, p):
    return tensors(rng, sizes(rng, "T U"), query="T U", key="T U")


def scores(query, key):
    """The score of each query with each key: query[T,U], key[T,U] -> scores[T,T]."""
    return query @ key.T / query.shape[1] ** 0.5


def unscaled(query, key):
    """Your scores grow with the width: they are not scaled."""
    return query @ key.T


SCORES = Function("scores", points=4, inputs=inputs, reference=scores, checks=[close()], mistakes=[unscaled])
MEMORY = Growth("memory", points=1, variables="T U", reference="O(T^2)")
PROBLEM = Problem(title="Scaled scores", version=1, source="the README", parts=[SCORES, MEMORY])
