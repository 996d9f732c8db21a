"""Wrong equations, ways and counts; the docstring is the hint that whoever gives the same answer reads."""

from .equations import merged_matrix, merged_scores, root, scores, steps


def equation_transposed(p):
    """Your matrix lets t_2 look at t_1: which of its two axes meets the vector that asks?"""
    return "W~[k,j_1,j_2] = " + merged_matrix(p).split(" = ")[1].translate(str.maketrans("12", "21"))


def equation_other_scale(p):
    """Everything but the factor is right: read once more whether the scores are scaled in this exercise."""
    return merged_matrix(p, divided="" if p["scaled"] else " / sqrt(I)")


def equation_divided_by_I(p):
    """You divided by I itself."""
    return merged_matrix(p, divided=" / I")


def equation_scaled_by_width(p):
    """You divided by the root of the width of the vectors that go in: that is not the length of a query."""
    return merged_matrix(p, divided=" / sqrt(J_1)")


def equation_query_twice(p):
    """You used the query matrix twice."""
    return None if p["cross"] else merged_matrix(p, asked="W^Q[k,I,j_2]")


def equation_sums_heads(p):
    """You summed over the heads; each head has a matrix of its own."""
    return f"W~[k,j_1,j_2] = sum_{{h,i}} W^Q[h,i,j_1] W^K[h,i,j_2]{root(p)}"


def equation_keys_of_all_heads(p):
    """Each head's query met the keys of all heads: query and key have the index k in common."""
    return f"W~[k,j_1,j_2] = sum_{{h,i}} W^Q[k,i,j_1] W^K[h,i,j_2]{root(p)}"


def equation_sums_apart(p):
    """You summed each matrix over i by itself: the product is summed."""
    return f"W~[k,j_1,j_2] = (sum_{{i}} W^Q[k,i,j_1]) (sum_{{i}} W^K[k,i,j_2]){root(p)}"


def one_position_for_both(p):
    """Both vectors stand at the first position in your line: then the score would not depend on the second one."""
    if p["cross"]:
        return None
    return steps(p, asked="W^K[k,I,J_2] L[t_1,J_2]", last="L[t_1,J_1] W~[k,J_1,J_2] L[t_1,J_2]")


def positions_exchanged(p):
    """The position that asks and the one that is asked have changed places."""
    if p["cross"]:
        return None
    ends = "L[t_2,J_1] W~[k,J_1,J_2] L[t_1,J_2]"
    return steps(p, asks="W^Q[k,I,J_1] L[t_2,J_1]", asked="W^K[k,I,J_2] L[t_1,J_2]", last=ends)


def way_divided_once_more(p):
    """The merged matrix contains the factor already: it does not stand in front of it again."""
    return steps(p, last=f"{merged_scores(p).split(' = ')[1]} / sqrt(I)") if p["scaled"] else None


def way_scale_dropped(p):
    """The factor of the first line is lost on your way."""
    return steps(p, divided="") if p["scaled"] else None


def way_scale_found(p):
    """A factor has come into your line that the first line does not have."""
    return None if p["scaled"] else steps(p, divided=" / sqrt(I)")


def no_way(p):
    """The scores by their definition in W^Q and W^K stand between the first line and the last one."""
    return f"{scores(p)}\n{merged_scores(p)}"


def count_of_one_head(p):
    """This is one head's share: a layer has all of them."""
    return "2 I J"


def count_of_queries(p):
    """You counted one of the two matrices."""
    return "K I J"


def count_of_full_width(p):
    """You gave each head matrices of the full width J: how many rows has a head's query matrix?"""
    return "2 K J^2"


def count_of_edges(p):
    """A matrix has as many entries as the product of its sizes, not their sum."""
    return "2 K (I + J)"


def count_with_biases(p):
    """You counted biases; there are none here."""
    return "2 K I (J + 1)"


def merged_count_of_one_head(p):
    """This is one head's matrix: a layer has one for each head."""
    return "J^2"


def merged_count_of_head_width(p):
    """Your merged matrix is I by I: which vectors stand to its left and to its right?"""
    return "K I^2"


def merged_count_of_two(p):
    """You counted two matrices per head; merged, there is one."""
    return "2 K J^2"


def merged_count_as_before(p):
    """This is the count of the two separate matrices: merging changes the shape, and with it the count."""
    return "2 K I J"


def merged_count_of_pairs(p):
    """You paired every head's query with every head's key; a head has one matrix."""
    return "K^2 J^2"


EQUATION_MISTAKES = {
    "merged_equation": [
        equation_transposed,
        equation_other_scale,
        equation_divided_by_I,
        equation_scaled_by_width,
        equation_query_twice,
        equation_sums_heads,
        equation_keys_of_all_heads,
        equation_sums_apart,
    ],
    "merged_steps": [
        one_position_for_both,
        positions_exchanged,
        way_divided_once_more,
        way_scale_dropped,
        way_scale_found,
        no_way,
    ],
    "separate_formula": [
        count_of_one_head,
        count_of_queries,
        count_of_full_width,
        count_of_edges,
        count_with_biases,
    ],
    "merged_formula": [
        merged_count_of_one_head,
        merged_count_of_head_width,
        merged_count_of_two,
        merged_count_as_before,
        merged_count_of_pairs,
    ],
}
