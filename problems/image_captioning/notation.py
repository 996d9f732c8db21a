"""The tensors that are given in each part."""

from .references import W_see, cell, whole_V


def given_words(p):
    return ["e[W,I]", "W^auto[I,J]", "h[T,J]", *([W_see(p), whole_V(p)] if p["use"] == "same step" else [])]


def memory(p):
    return "M[F,X,Y,K]" if p["memory"] == "video" else "M[X,Y,K]"


def given_attention(p):
    n = "N," if p["heads"] else ""
    own = [f"W^key[{n}J,K]"] if p["score"] == "bilinear" else [f"v[{n}A]", f"W^h[{n}A,J]", f"W^M[{n}A,K]", f"B[{n}A]"]
    return ["h[T,J]", memory(p), *own, *(["tau"] if p["temperature"] else [])]


def alpha_shape(p):
    return f"alpha[{'N,' if p['heads'] else ''}{cell(p).upper()}]"


def given_values(p):
    n = "N," if p["heads"] else ""
    return [memory(p), alpha_shape(p), *([f"W^val[{n}J,K]"] if p["values"] == "mapped" else [])]


def given_update(p):
    return ["h[T,J]", whole_V(p), "e[W,I]"]


def given_start(p):
    return [memory(p), "W^init[J,K]"]


def given_derivative(p):
    return [memory(p), f"beta[{cell(p).upper()}]", "c[K]"]


def average(p):
    return f"c[k] = sum_{{{cell(p)}}} beta[{cell(p)}] M[{cell(p)},k]"


AVERAGE = {"tensors": given_derivative, "given_equations": average}
