"""Topics of documents: BERTopic with DensityPeaks in the place of UMAP and HDBSCAN, and beside them.

Documents and embeddings are made here, so that nothing is downloaded; with your own, `main` stays as it is.

usage: topics_bertopic.py [TOPIC_SHARE [SEED]]    how many of the words are of the topic
"""

import sys

import numpy as np
from bertopic import BERTopic
from bertopic.dimensionality import BaseDimensionalityReduction
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from diffpeaks import NOISE, DensityPeaks
from diffpeaks.metrics import bcubed_scores

SIZES_AND_WORDS = [
    (400, "oven flour butter garlic recipe saucepan onion dough roast whisk pepper simmer"),
    (250, "telescope orbit galaxy comet planet nebula eclipse lunar spectrum crater asteroid star"),
    (150, "goalkeeper striker penalty midfield league referee stadium header tackle offside coach match"),
    (100, "soil seedling prune compost tulip mulch blossom weeds greenhouse bulb hedge lawn"),
    (60, "harbour mast rudder anchor tide keel rigging jib crew buoy mainsail windward"),
    (40, "violin chord tempo orchestra melody rehearsal cello conductor sonata rhythm choir flute"),
]
N_STRAYS = 30  # documents about everything and nothing
EVERYDAY = "the a we they it is was and with for often today really again never good new first small time"
NEW_DOCUMENTS = [
    "roast the onion with butter and garlic",
    "the comet is on an orbit around a star",
    "the referee gave a penalty to our striker",
    "compost makes good soil for the tulip and the hedge",
    "the crew took down the jib and the mainsail",
    "a sonata for violin and cello",
]


def make_documents(topic_share, seed):
    """Documents, and the topic of each: words of the topic among everyday ones."""
    random = np.random.default_rng(seed)
    documents, topics = [], []
    everything = (N_STRAYS, " ".join(words for _, words in SIZES_AND_WORDS))
    for topic, (size, words) in enumerate([*SIZES_AND_WORDS, everything]):
        for length in random.integers(10, 20, size):
            topical, everyday = random.choice(words.split(), length), random.choice(EVERYDAY.split(), length)
            documents.append(" ".join(np.where(random.random(length) < topic_share, topical, everyday)))
            topics.append(topic if topic < len(SIZES_AND_WORDS) else NOISE)
    return documents, np.array(topics)


def main(topic_share=0.5, seed=0):
    documents, truth = make_documents(topic_share, seed)
    embedder = make_pipeline(TfidfVectorizer(), TruncatedSVD(30, random_state=0), Normalizer())
    embeddings = embedder.fit_transform(documents)
    # dozens of dimensions are no obstacle to DensityPeaks: without UMAP the topics do not depend on a seed
    ours = BERTopic(umap_model=BaseDimensionalityReduction(), hdbscan_model=DensityPeaks(min_cluster_size=10))
    about_something = truth != NOISE
    for name, topic_model in (("UMAP and HDBSCAN", BERTopic()), ("DensityPeaks", ours)):
        topics, probabilities = topic_model.fit_transform(documents, embeddings)
        found, known = np.array(topics)[about_something], truth[about_something]
        ami, bcubed = adjusted_mutual_info_score(known, found), bcubed_scores(known, found).f
        print(
            f"{name}: {max(topics) + 1} topics, {topics.count(NOISE)} documents without one, "
            f"AMI {ami:.3f}, BCubed F {bcubed:.3f}"
        )
    print(ours.get_topic_info()[["Count", "Name"]].to_string())
    least_sure = np.argsort(probabilities)[:N_STRAYS]
    print(f"{np.mean(~about_something[least_sure]):.0%} of the {N_STRAYS} least sure documents are strays")
    new_topics, _ = ours.transform(NEW_DOCUMENTS, embedder.transform(NEW_DOCUMENTS))
    for document, topic in zip(NEW_DOCUMENTS, new_topics, strict=True):
        print(f"topic {topic}: {document}")


if __name__ == "__main__":
    main(*(kind(value) for kind, value in zip((float, int), sys.argv[1:], strict=False)))
