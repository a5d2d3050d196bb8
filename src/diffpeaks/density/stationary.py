"""The stationary law of a large, sparse, irreducible Markov chain.

Small chains are eliminated directly (Grassmann, Taksar and Heyman). Large ones go through
multiplicative aggregation cycles: states are grouped by their strongest links, the chain of
groups is solved recursively and rescales the law, and Anderson's mixing speeds the cycles up.

A small residual proves little when the chain nearly falls apart: the masses of weakly linked
clusters may be wrong although every balance holds to rounding. Three things answer that.
No step subtracts (self loops are never used, only the flows between different states), so
that a link of 1e-14 keeps all its digits. Convergence is judged by how far a whole cycle,
which rebalances clusters of every size, still moves the law. And a second run, from a start
disturbed at every scale, shows how much longer than its last step the way to the law is.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from diffpeaks.progress import stage

ERROR_BOUND = 1e-11  # on the estimated L1 error: ten times stricter than the promised 1e-10
RESIDUAL_BOUND = 1e-12
SMALLEST_FLOW = 1e-290  # below it, elimination loses digits to underflow
SMALLEST_MASS = 1e-250  # below it, flows between states lose digits to underflow
LAST_STEP = 5e-14  # of the run that finds the law: above rounding, far below the error bound
LAST_PROBE_STEP = 1e-7  # of the run that returns from a disturbed start
DIRECT_STATES = 500  # eliminated without cycles
COARSEST_STATES = 100  # eliminated many times in every cycle
MAX_CYCLES = 300
REGROUP_BEFORE = (0, 3, 6, 12, 24, 48, 96, 192)  # cycles; the first groups know little of the law
COUNTED = 1000  # parts of the way to the last step, in orders of magnitude, as progress counts it
WINDOW = 12  # cycles that the mixing remembers
LARGEST_EXPONENT = 10.0  # by which the mixing may change a mass
SWEEPS = 2
DAMPING = 0.75  # below one: without its self loops, a chain may be periodic
MATCHING_ROUNDS = 3
WEAK_LINK = 0.25  # links weaker than this part of a state's strongest do not pair it
VISIT_OVERHEAD = 3e4  # what calling a level costs, in stored entries
SMALLEST_BUDGET = 1e6  # entries that each level may touch in one cycle, however small the chain
UNDERFLOW = "flows between samples underflow; use more neighbours, a wider bandwidth or teleport"


class ConvergenceError(RuntimeError):
    """The law was not found to the promised accuracy."""


class Level(NamedTuple):
    """States in groups, one step coarser than the level before."""

    groups: np.ndarray  # the group of each state
    entries: np.ndarray  # for each flow between states the one between groups to which it adds
    pattern: sparse.csr_array  # the flows between groups, their values aside
    repeats: int  # how often a cycle solves the chain of groups


def stationary_law(transition: sparse.csr_array) -> np.ndarray:
    """The law pi with pi P = pi, to about 1e-10 in L1.

    `transition` is row-stochastic and irreducible; dense rows or columns (hubs) are welcome.
    Raises ConvergenceError rather than return a law of doubtful accuracy.
    """
    inflow = _inflow(transition)
    with np.errstate(all="ignore"):  # what overflows or divides by zero ends as NaN, caught below
        if inflow.shape[0] <= DIRECT_STATES:
            law, error = _by_elimination(inflow), 0.0
        else:
            law, step = _iterate(inflow, np.ones(inflow.shape[0]), LAST_STEP)
            error = step * _way_per_step(inflow, law) if law.min() > 0 else np.nan
        residual = float(np.abs(inflow @ law - _outflow(inflow) * law).sum())
    # elimination never divides by a mass, so that a vanishing one does no harm there
    smallest = 1.0 if inflow.shape[0] <= DIRECT_STATES else law.min()
    if not (error <= ERROR_BOUND and residual <= RESIDUAL_BOUND and smallest >= SMALLEST_MASS):
        raise ConvergenceError(
            f"no accurate stationary law: estimated error {error:.1e} (bound {ERROR_BOUND:g}),"
            f" residual {residual:.1e} (bound {RESIDUAL_BOUND:g}), smallest mass {smallest:.1e}"
            f" (bound {SMALLEST_MASS:g}); link the parts of the data more strongly (more neighbours, a"
            " wider bandwidth, teleport) or take finitely many steps"
        )
    return law


def _inflow(transition: sparse.csr_array) -> sparse.csr_array:
    """The transposed chain without self loops: row j holds the flows into state j."""
    chain = sparse.coo_array(transition, dtype=float)
    if chain.shape[0] != chain.shape[1] or chain.shape[0] == 0:
        raise ValueError(f"a chain needs a square, non-empty matrix, not one of {chain.shape}")
    if not (chain.data.min(initial=0) >= 0 and np.abs(chain.sum(axis=1) - 1).max() <= 1e-9):
        raise ValueError("a chain needs nonnegative rows that sum to one")
    moves = (chain.row != chain.col) & (chain.data > 0)
    entries = (chain.data[moves], (chain.col[moves], chain.row[moves]))
    inflow = sparse.csr_array(entries, shape=chain.shape)
    if connected_components(inflow, connection="strong", return_labels=False) > 1:
        raise ValueError("the chain is reducible: pass one closed class of states")
    return inflow


def _outflow(inflow: sparse.csr_array) -> np.ndarray:
    return inflow.T @ np.ones(inflow.shape[0])


def _by_elimination(inflow: sparse.csr_array) -> np.ndarray:
    """The law of a small chain, from the chain of its jumps: how often a state is entered, and for how long.

    A state that is hardly ever left has tiny flows; in the chain of jumps they are of ordinary size.
    """
    outflow = _outflow(inflow) if inflow.shape[0] > 1 else np.ones(1)
    entered = _eliminate(_scaled(inflow, 1 / outflow), SMALLEST_FLOW)
    if outflow.min() < SMALLEST_FLOW:
        raise ConvergenceError(UNDERFLOW)
    law = entered / (outflow / outflow.min())  # in this order no quotient overflows
    return law / law.sum()


def _eliminate(inflow: sparse.csr_array, smallest_flow: float = 0.0) -> np.ndarray:
    """GTH elimination: entrywise accurate however weak the links are.

    Digits are lost only where all that leaves a state underflows: below `smallest_flow` that is refused.
    """
    flow = inflow.toarray().T.copy()
    states = len(flow)
    for last in range(states - 1, 0, -1):
        leaving = flow[last, :last].sum()
        if leaving < smallest_flow:
            raise ConvergenceError(UNDERFLOW)
        flow[:last, last] /= leaving
        flow[:last, :last] += np.outer(flow[:last, last], flow[last, :last])
    law = np.ones(states)
    for state in range(1, states):
        law[state] = law[:state] @ flow[:state, state]
    return law / law.sum()


def _iterate(inflow: sparse.csr_array, law: np.ndarray, last_step: float) -> tuple[np.ndarray, float]:
    """Mixed cycles until neither the cycle nor the mixing moves the law by more than that."""
    law = law / law.sum()
    images: list[np.ndarray] = []
    changes: list[np.ndarray] = []
    with stage("cycles", COUNTED) as done:
        for cycle in range(MAX_CYCLES):
            if cycle in REGROUP_BEFORE:
                levels = _levels(inflow, law)
                images, changes = [], []  # those of other groups do not predict the cycles to come
            image = _cycle(levels, inflow, law)
            image /= image.sum()
            images = [*images, np.log(image)][-WINDOW:]
            changes = [*changes, images[-1] - np.log(law)][-WINDOW:]
            mixed = _mix(image, images, changes)
            step = np.maximum(np.abs(image - law).sum(), np.abs(mixed - law).sum())
            law = mixed
            if not step > last_step:  # NaN ends the run too
                break
            done.reach(int(COUNTED * np.log(min(step, 1.0)) / np.log(last_step)))
    return law, float(step)


def _way_per_step(inflow: sparse.csr_array, law: np.ndarray) -> float:
    """How far from the law a run from elsewhere still is, in units of its last step.

    Cycles that cannot move some cluster take small steps far from the law: this tells.
    """
    random = np.random.default_rng(0)
    disturbance = random.normal(size=COARSEST_STATES)
    for level in reversed(_levels(inflow, law)):
        noise = random.normal(scale=0.3, size=len(level.groups))
        disturbance = disturbance[level.groups] + noise
    probe, step = _iterate(inflow, law * np.exp(disturbance), LAST_PROBE_STEP)
    way = np.abs(probe - law).sum() / (step + np.finfo(float).eps)
    return float(np.maximum(way, 1.0))


def _mix(image: np.ndarray, images: list[np.ndarray], changes: list[np.ndarray]) -> np.ndarray:
    """Anderson's mixing of the logarithms: the combination whose changes nearly cancel.

    Logarithms, since cycles multiply: tiny masses on the way between two clusters, which
    decide how these balance, are mixed as well as large ones, and none becomes negative.
    """
    if len(images) == 1 or not all(np.isfinite(change).all() for change in changes):
        return image
    scale = np.sqrt(image)  # what a relative change weighs in the natural metric of a law
    differences = np.stack([(changes[-1] - other) * scale for other in changes[:-1]], axis=1)
    weights = np.linalg.lstsq(differences, changes[-1] * scale, rcond=1e-10)[0]
    exponent = np.zeros(len(image))
    for weight, other in zip(weights, images[:-1], strict=True):
        exponent += weight * (other - images[-1])
    mixed = image * np.exp(np.clip(exponent, -LARGEST_EXPONENT, LARGEST_EXPONENT))
    return mixed / mixed.sum()


def _levels(inflow: sparse.csr_array, law: np.ndarray) -> list[Level]:
    """Groups, groups of groups and so on, by the flows under a law that need not be right."""
    levels, visits = [], 1
    budget = max(inflow.nnz, SMALLEST_BUDGET)
    while inflow.shape[0] > COARSEST_STATES:
        flow = _scaled(inflow, _relax(inflow, _outflow(inflow), law))
        groups = _strongest_groups(flow)
        if groups.max() + 1 == len(groups):  # only without links: every other state joins one
            raise ConvergenceError(UNDERFLOW)
        level = Level(groups, *_pattern(flow, groups), repeats=1)
        inflow, law = _aggregate(flow, level), np.ones(groups.max() + 1)
        repeats = 2 if 2 * visits * (inflow.nnz + VISIT_OVERHEAD) <= budget else 1
        visits *= repeats
        levels.append(level._replace(repeats=repeats))
    return levels


def _cycle(levels: list[Level], inflow: sparse.csr_array, law: np.ndarray) -> np.ndarray:
    """Relax, rescale the groups by the law of their own chain, relax."""
    if not levels:
        return _eliminate(inflow)
    level, coarser = levels[0], levels[1:]
    outflow = _outflow(inflow)
    law = _relax(inflow, outflow, law)
    coarse_inflow = _aggregate(_scaled(inflow, law), level)
    factors = np.ones(coarse_inflow.shape[0])
    for _ in range(level.repeats if coarser else 1):
        factors = _cycle(coarser, coarse_inflow, factors)
        factors /= factors.mean()
    return _relax(inflow, outflow, law * factors[level.groups])


def _relax(inflow: sparse.csr_array, outflow: np.ndarray, law: np.ndarray) -> np.ndarray:
    """Damped Jacobi sweeps: each state takes the mass that balances its flows."""
    for _ in range(SWEEPS):
        law = (1 - DAMPING) * law + DAMPING * (inflow @ law) / outflow
    return law


def _scaled(inflow: sparse.csr_array, law: np.ndarray) -> sparse.csr_array:
    data = inflow.data * law[inflow.indices]
    return sparse.csr_array((data, inflow.indices, inflow.indptr), shape=inflow.shape)


def _pattern(flow: sparse.csr_array, groups: np.ndarray) -> tuple[np.ndarray, sparse.csr_array]:
    """Where each flow goes in the chain of groups, and which flows that chain has.

    Flows within a group go behind the last of them: like self loops, they vanish.
    """
    n_groups = int(groups.max()) + 1
    by_group = np.argsort(groups, kind="stable")
    numbered = sparse.csr_array(
        (np.arange(flow.nnz), groups[flow.indices], flow.indptr), (len(groups), n_groups)
    )[by_group]
    starts = numbered.indptr[np.append(0, np.cumsum(np.bincount(groups)))]
    merged = sparse.csr_array((numbered.data, numbered.indices, starts), (n_groups, n_groups))
    merged.sort_indices()  # equal flows now stand together in their row
    to_group = np.repeat(np.arange(n_groups, dtype=merged.indices.dtype), np.diff(starts))
    first = np.append(True, np.diff(merged.indices) != 0)
    first[starts[:-1][np.diff(starts) > 0]] = True
    between = to_group != merged.indices
    first &= between
    entries = np.empty(flow.nnz, np.int64)
    entries[merged.data] = np.where(between, np.cumsum(first) - 1, np.sum(first))
    indptr = np.append(0, np.cumsum(np.bincount(to_group[first], minlength=n_groups)))
    pattern = sparse.csr_array((np.empty(np.sum(first)), merged.indices[first], indptr), merged.shape)
    return entries, pattern


def _aggregate(flow: sparse.csr_array, level: Level) -> sparse.csr_array:
    """The flows between groups."""
    pattern = level.pattern
    data = np.bincount(level.entries, flow.data, minlength=pattern.nnz + 1)[: pattern.nnz]
    return sparse.csr_array((data, pattern.indices, pattern.indptr), pattern.shape)


def _strongest_groups(flow: sparse.csr_array) -> np.ndarray:
    """Pairs of states that are each other's strongest link; the rest join their strongest."""
    links = sparse.csr_array(flow + flow.T)
    rows = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    # Roots of the total flows keep hubs from attracting everyone; random factors break ties.
    luck = 1 + 0.01 * np.random.default_rng(0).random(links.shape[0])
    strength = links.data * (luck / np.sqrt(links.sum(axis=1)))[links.indices]
    strongest, largest = _strongest_of_rows(links, rows, strength)
    # A weak link must not pair leftovers of two clusters: no level could then tell them apart.
    strength[strength < WEAK_LINK * largest[rows]] = 0
    myself = np.arange(links.shape[0])
    partner, alone = strongest.copy(), np.ones(links.shape[0], dtype=bool)
    for _ in range(MATCHING_ROUNDS):
        between_alone = np.where(alone[rows] & alone[links.indices], strength, 0.0)
        choice, _ = _strongest_of_rows(links, rows, between_alone)
        mutual = alone & (choice[choice] == myself) & (choice != myself)
        partner[mutual], alone[mutual] = choice[mutual], False
    pairs = sparse.csr_array((np.ones(len(myself)), (myself, partner)), shape=links.shape)
    return connected_components(pairs, directed=False)[1]


def _strongest_of_rows(
    links: sparse.csr_array, rows: np.ndarray, strength: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each row the column of its largest strength (itself if all are zero), and this."""
    largest = np.maximum.reduceat(strength, links.indptr[:-1])
    best = np.flatnonzero((strength == largest[rows]) & (strength > 0))
    choice = np.arange(links.shape[0])
    choice[rows[best]] = links.indices[best]
    return choice, largest
