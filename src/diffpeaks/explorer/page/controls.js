// The cut as numbers and sliders: what the lines in the plots are, for the keyboard and for exact values.

const STEPS = 1000; // of a slider

const linear = {
  toShare: (value, [low, high]) => (value - low) / (high - low),
  toValue: (share, [low, high]) => low + share * (high - low),
};
const logarithmic = {
  toShare: (value, [low, high]) => Math.log(value / low) / Math.log(high / low),
  toValue: (share, [low, high]) => low * (high / low) ** share,
};

class RuleControl {
  isTyping = false; // what is half typed is not written over

  constructor(name, app, { scale, whole, range }) {
    Object.assign(this, { name, app, scale, whole, range });
    const box = document.getElementById(`rule-${name}`);
    [this.box, this.value, this.clear, this.slide] = [
      box,
      ...["value", "clear", "slide"].map((part) => box.querySelector(`.${part}`)),
    ];
    this.value.addEventListener("input", () => (this.isTyping = true));
    this.value.addEventListener("change", () => {
      this.isTyping = false;
      this.#set(this.value.value === "" ? null : Number(this.value.value), true);
    });
    this.clear.addEventListener("click", () => this.#set(null, true));
    this.slide.addEventListener("input", () => this.#set(this.#slid(), false));
    this.slide.addEventListener("change", () => this.#set(this.#slid(), true));
  }

  show(clustering) {
    const value = clustering.cut[this.name];
    const limits = this.range(clustering);
    const standing = value ?? this.standing(clustering, limits);
    const isSet = this.isSet(value);
    this.box.classList.toggle("set", isSet);
    this.clear.disabled = !isSet;
    if (!this.isTyping) this.value.value = isSet ? String(Number(value.toPrecision(6))) : "";
    if (!isSet && this.whole) this.value.placeholder = String(standing);
    if (this.whole) this.value.step = 1;
    const share = this.scale.toShare(Math.min(Math.max(standing, limits[0]), limits[1]), limits);
    if (!this.slide.matches(":active")) this.slide.value = Math.round(STEPS * share);
    this.slide.setAttribute("aria-valuetext", isSet ? String(value) : "not set");
  }

  // Where the slider stands while the rule is not set.
  standing(clustering, limits) {
    return this.whole ? clustering.n_clusters : limits[1];
  }

  isSet(value) {
    return value !== null && !(this.name === "min_prominence" && value === 0);
  }

  #slid() {
    const value = this.scale.toValue(this.slide.value / STEPS, this.range(this.app.clustering));
    return this.whole ? Math.round(value) : value;
  }

  #set(value, keep) {
    this.app.setRule(this.name, value, keep);
  }
}

export class Controls {
  #rules;
  #policy = ["min_cluster_size", "halo", "noise"].map((name) => document.getElementById(name));

  constructor(app) {
    this.#rules = [
      new RuleControl("n_clusters", app, {
        scale: logarithmic,
        whole: true,
        range: (now) => [1, Math.min(now.n_samples, Math.max(1000, 4 * now.n_clusters, 2))],
      }),
      new RuleControl("max_link", app, { scale: logarithmic, whole: false, range: () => app.linkRange }),
      new RuleControl("min_prominence", app, { scale: linear, whole: false, range: () => [0, app.largestRise] }),
    ];
    for (const input of this.#policy) {
      input.addEventListener("change", () => {
        const value =
          input.type === "checkbox"
            ? input.checked
            : input.type === "number"
              ? Math.max(1, Math.round(Number(input.value)) || 1)
              : input.value;
        app.change("policy", { [input.id]: value });
      });
    }
    document.getElementById("automatic").addEventListener("click", () => app.change("return", { what: "automatic" }));
    document.getElementById("as-fitted").addEventListener("click", () => app.change("return", { what: "fit" }));
  }

  show(clustering) {
    for (const rule of this.#rules) rule.show(clustering);
    for (const input of this.#policy) {
      const value = clustering.policy[input.id];
      if (input.type === "checkbox") input.checked = value;
      else input.value = value;
    }
    document.getElementById("automatic").setAttribute("aria-pressed", String(clustering.is_automatic));
    const asFitted = document.getElementById("as-fitted");
    asFitted.setAttribute("aria-pressed", String(clustering.is_of_fit));
    asFitted.hidden = clustering.fit_is_automatic; // one button for one cut
  }
}
