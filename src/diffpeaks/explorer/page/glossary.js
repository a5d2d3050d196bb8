// Words of the page, explained once: wherever one stands, resting on it shows what it means.

export const GLOSSARY = {
  cluster: "Samples around one peak. Its number and colour stay while others change.",
  density: "How many samples are around a sample, by a random walk over its neighbours; the mean is 1.",
  peak: "The densest sample of a cluster.",
  hill: "A sample without denser neighbours, and all samples that climb to it.",
  saddle: "The densest place where two hills meet.",
  prominence: "How far a hill rises above its saddle with a denser hill, in log density; more where little flows over it.",
  delta: "The distance from a sample to the nearest denser one.",
  noise: "Samples of no cluster.",
  "Least prominence": "Hills of less prominence are absorbed into the denser hill beside them.",
  "Longest link": "Links of this length or longer, from a sample to a denser neighbour, are dropped.",
  "Number of clusters": "So many samples are peaks: those with the largest density × delta.",
  "least size": "Clusters with fewer samples are noise.",
  halo: "Samples less dense than the densest border sample of their cluster are noise.",
};
const SHOWN_FIRST = ["cluster", "density", "peak", "hill", "saddle", "prominence", "delta", "noise"];

// Explain every element that names its word.
export function explainWords() {
  for (const element of document.querySelectorAll("[data-word]")) element.title = GLOSSARY[element.dataset.word];
}

// The words that one meets first, with what they mean.
export function firstWords() {
  return SHOWN_FIRST.map((word) => [word, GLOSSARY[word]]);
}
