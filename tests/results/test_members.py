"""Members of clusters against plain sorting."""

import numpy as np
from clouds import general_position
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import DensityPeaks
from diffpeaks.results.members import Members, members_of

SAMPLES = st.lists(
    st.tuples(
        st.integers(-1, 3),  # label
        st.sampled_from([0.5, 1.0, 2.0]),  # density, with ties
        st.sampled_from([0.25, 0.5, 1.0]),  # probability, with ties
        st.integers(-1, 3),  # the next label
    ),
    max_size=30,
)


@given(SAMPLES, st.integers(0, 5))
def test_central_and_doubtful_members(samples, most):
    columns = [np.array(column) for column in zip(*samples, strict=True)] or [np.zeros(0, int)] * 4
    members = Members(*columns, n_clusters=4)
    for label in range(-1, 4):
        own = [i for i, sample in enumerate(samples) if sample[0] == label]
        assert (members.n_noise if label < 0 else members.sizes[label]) == len(own)
        densest = sorted(own, key=lambda i: (-samples[i][1], i))
        assert members.central(label, most).tolist() == densest[:most]
        unsure = [i for i in reversed(densest) if samples[i][3] != -1]
        unsure = sorted(unsure, key=lambda i: samples[i][2])[:most]
        assert [doubt.sample for doubt in members.doubtful(label, most)] == unsure
        for doubt in members.doubtful(label, most):
            assert (doubt.probability, doubt.next_label) == samples[doubt.sample][2:]


def test_members_of_a_fit():
    model = DensityPeaks(n_clusters=9, min_cluster_size=8).fit(general_position(3, 200))
    members = members_of(model)
    shares = model.memberships(top=2).toarray()
    assert members.sizes.tolist() == [np.sum(model.labels_ == label) for label in range(model.n_clusters_)]
    assert members.n_noise == np.sum(model.labels_ == -1)
    assert members.largest_first().tolist() == sorted(
        range(model.n_clusters_), key=lambda label: (-members.sizes[label], label)
    )
    n_doubtful = 0
    for label in range(model.n_clusters_):
        densest = members.central(label, 1)[0]
        assert model.density_[densest] == model.density_[model.labels_ == label].max()
        assert np.isclose(
            members.mean_probability(label), model.probabilities_[model.labels_ == label].mean()
        )
        for sample, probability, other in members.doubtful(label, 200):
            n_doubtful += 1
            assert model.probabilities_[sample] == probability < 1
            assert other == np.argsort(-shares[sample], kind="stable")[1] != label
    assert n_doubtful == np.sum((shares > 0).sum(axis=1) == 2) > 0


def test_one_sample_and_noise_alone():
    alone = members_of(DensityPeaks().fit([[1.0, 2.0]]))
    assert (alone.sizes.tolist(), alone.n_noise, alone.doubtful(0, 3)) == ([1], 0, [])
    noise = members_of(DensityPeaks(min_cluster_size=50).fit(general_position(0, 20)))
    assert (noise.sizes.tolist(), noise.n_noise, len(noise.central(-1, 3))) == ([], 20, 3)
