"""A node keeps its hash and its text: neither changes what a node is."""

import pickle

from autograder.maths.expression import parse
from autograder.maths.expression.syntax import Add, Neg, Number, Prod, Sum, Variable, free_variables


def test_what_is_kept_does_not_tell_nodes_apart():
    """A node that was asked equals one that was not, and gives no hash of its process to another."""
    one, other = (parse("2*x + sum(k*x, k, 1, n)", variables=["x", "n"]).node for _ in range(2))
    assert hash(one) == hash(pickle.loads(pickle.dumps(one))) and repr(one) == repr(other)
    assert one == pickle.loads(pickle.dumps(one)) == other
    assert not hasattr(pickle.loads(pickle.dumps(one)), "_hash")
    assert free_variables(one) == {"x", "n"}


def test_a_text_has_the_names_of_its_fields():
    """It is what is put in order."""
    assert repr(Add((Number(1), Neg(Variable("x"))))) == "Add(terms=(Number(value=1), Neg(operand=Variable(name='x'))))"


def test_a_product_is_no_sum():
    """Two nodes with the same parts differ by their kind, and by their hash."""
    parts = (Variable("k"), "k", Number(1), Variable("n"))
    assert Sum(*parts) != Prod(*parts) and hash(Sum(*parts)) != hash(Prod(*parts))
    assert len({Neg(Number(1)), Neg(Number(1)), Number(1)}) == 2
