// Python's view of hills and links: forests, passes, components.
#include <nanobind/stl/optional.h>

#include <optional>

#include "arrays.hpp"
#include "borders.hpp"
#include "forest.hpp"
#include "kept_rows.hpp"
#include "links.hpp"
#include "merges.hpp"
#include "order.hpp"
#include "passes.hpp"

namespace diffpeaks {

template <class T>
static std::vector<T> copied(const In<T>& array) {
    return {array.data(), array.data() + length(array)};
}

template <class Real>
static void bind_forest_of(nb::module_& m) {
    m.def(
        "short_links",
        [](const GraphArrays<Real>& given, In<Offset> nearest, In<Offset> within, In<Real> reach, int n_threads) {
            FlatRows<Real> found;
            {
                const nb::gil_scoped_release released;
                const Graph<Real> graph = given.checked();
                const std::int64_t n = graph.n_samples;
                found = rows_of_links(ShortLinks<Real>{graph, values(nearest, "nearest", n),
                                                       values(within, "within", n), values(reach, "reach", n)},
                                      n_threads);
            }
            return owned(std::move(found));
        },
        array("graph"), array("nearest"), array("within"), array("reach"), nb::arg("n_threads"));
    m.def(
        "merge_hills",
        [](const GraphArrays<Real>& given, double max_link, In<Index> order, In<Index> parent, Out<Index> saddle,
           Out<Index> crossing, int n_threads) {
            const Graph<Real> graph = given.checked();
            const std::int64_t n = graph.n_samples;
            merge_hills(graph, max_link, values(order, "order", n), values(parent, "parent", n),
                        values(saddle, "saddle", n), values(crossing, "crossing", n), n_threads);
        },
        array("graph"), nb::arg("max_link"), array("order"), array("parent"), array("saddle"), array("crossing"),
        nb::arg("n_threads"), Released());
    m.def(
        "mark_border",
        [](const GraphArrays<Real>& given, double max_link, In<Index> labels, Out<bool> border) {
            const Graph<Real> graph = given.checked();
            mark_border(graph, max_link, values(labels, "labels", graph.n_samples),
                        values(border, "border", graph.n_samples));
        },
        array("graph"), nb::arg("max_link"), array("labels"), array("border"), Released());
    m.def(
        "join_within",
        [](const RowArrays& given, In<Real> lengths, double max_length, In<bool> core, Out<Index> component) {
            const Rows rows = given.checked();
            join_within(rows, values(lengths, "lengths", length(given.indices)), max_length,
                        values(core, "core", rows.n_samples), values(component, "component", rows.n_samples));
        },
        array("rows"), array("lengths"), nb::arg("max_length"), array("core"), array("component"), Released());
}

template <class Real, class Weight>
struct FlowArrays {
    Graph<Real> graph;
    FlowRows<Real, Weight> rows;

    FlowArrays(const GraphArrays<Real>& given, In<Index> hill, In<Weight> weights, In<double> sent_by_weight)
        : graph(given.checked()),
          rows{graph, values(hill, "hill", graph.n_samples), values(weights, "weights", length(given.rows.indices)),
               values(sent_by_weight, "sent_by_weight", graph.n_samples)} {}
};

template <class Real>
struct LinkArrays {
    Graph<Real> graph;
    LinkRows<Real> rows;

    LinkArrays(const GraphArrays<Real>& given, In<Index> hill, In<Index> rank)
        : graph(given.checked()),
          rows{graph, values(hill, "hill", graph.n_samples), values(rank, "rank", graph.n_samples)} {}
};

template <class Value>
static const KeptRows<Value>* kept_of(const KeptRows<Value>* kept, Index n_rows) {
    if (kept) check_length("kept", "rows", kept->n_rows(), n_rows);
    return kept;
}

template <class Real, class Weight>
static void bind_flow_of(nb::class_<JoiningHills>& hills, nb::class_<KeptRows<double>>& kept_flow) {
    kept_flow.def(
        "__init__",
        [](KeptRows<double>* self, const GraphArrays<Real>& graph, In<Index> hill, In<Weight> weights,
           In<double> sent_by_weight, In<double> longest_up, int n_threads) {
            const FlowArrays<Real, Weight> given(graph, hill, weights, sent_by_weight);
            const double* longest = values(longest_up, "longest_up", given.graph.n_samples);
            new (self) KeptRows<double>(given.rows, longest, n_threads);
        },
        array("graph"), array("hill"), array("weights"), array("sent_by_weight"), array("longest_up"),
        nb::arg("n_threads"), Released());
    hills.def(
        "add_flow",
        [](JoiningHills& self, const GraphArrays<Real>& graph, In<Index> hill, In<Weight> weights,
           In<double> sent_by_weight, double max_link, const KeptRows<double>* kept, int n_threads) {
            const FlowArrays<Real, Weight> given(graph, hill, weights, sent_by_weight);
            self.add(given.rows, max_link, kept_of(kept, given.graph.n_samples), n_threads);
        },
        array("graph"), array("hill"), array("weights"), array("sent_by_weight"), nb::arg("max_link"),
        nb::arg("kept").none(), nb::arg("n_threads"), Released());
}

template <class Real>
static void bind_links_of(nb::class_<JoiningHills>& hills, nb::class_<KeptRows<RankPair>>& kept_links) {
    kept_links.def(
        "__init__",
        [](KeptRows<RankPair>* self, const GraphArrays<Real>& links, In<Index> hill, In<Index> rank,
           In<double> longest_up, int n_threads) {
            const LinkArrays<Real> given(links, hill, rank);
            const double* longest = values(longest_up, "longest_up", given.graph.n_samples);
            new (self) KeptRows<RankPair>(given.rows, longest, n_threads);
        },
        array("links"), array("hill"), array("rank"), array("longest_up"), nb::arg("n_threads"), Released());
    hills.def(
        "open_passes",
        [](JoiningHills& self, const GraphArrays<Real>& links, In<Index> hill, In<Index> rank, double max_link,
           const KeptRows<RankPair>* kept, int n_threads) {
            const LinkArrays<Real> given(links, hill, rank);
            check_length("links", "rows", given.graph.n_samples, self.n_points());
            self.add(given.rows, max_link, kept_of(kept, given.graph.n_samples), n_threads);
        },
        array("links"), array("hill"), array("rank"), nb::arg("max_link"), nb::arg("kept").none(), nb::arg("n_threads"),
        Released());
}

static nb::tuple all_joined(JoiningHills& hills, const Separation& separation) {
    std::vector<Index> tops, passes, ends;
    std::vector<double> apart;
    {
        const nb::gil_scoped_release released;
        hills.join_all(separation, [&](Index top, Index pass, Index end, double by) {
            tops.push_back(top);
            passes.push_back(pass);
            ends.push_back(end);
            apart.push_back(by);
        });
    }
    return nb::make_tuple(owned(std::move(tops)), owned(std::move(passes)), owned(std::move(ends)),
                          owned(std::move(apart)));
}

static void bind_joining(nb::module_& m) {
    nb::class_<JoiningHills> hills(m, "JoiningHills");
    hills.def(
        "__init__",
        [](JoiningHills* self, In<Index> tops, In<Index> hill_of_rank, In<double> log_density) {
            const double* heights = values(log_density, "log_density", length(hill_of_rank));
            new (self) JoiningHills(copied(tops), copied(hill_of_rank), heights);
        },
        array("tops"), array("hill_of_rank"), array("log_density"));
    nb::class_<KeptRows<double>> kept_flow(m, "KeptFlow");
    nb::class_<KeptRows<RankPair>> kept_links(m, "KeptLinks");
    bind_flow_of<float, float>(hills, kept_flow);
    bind_flow_of<float, double>(hills, kept_flow);
    bind_flow_of<double, double>(hills, kept_flow);
    bind_links_of<float>(hills, kept_links);
    bind_links_of<double>(hills, kept_links);
    hills.def_prop_ro("n_hills", &JoiningHills::n_hills);
    hills.def(
        "add_sums",
        [](JoiningHills& self, In<Index> a, In<Index> b, In<double> flow, In<double> volume) {
            const std::int64_t n_pairs = length(a);
            self.add_sums(a.data(), values(b, "b", n_pairs), values(flow, "flow", n_pairs),
                          static_cast<std::size_t>(n_pairs),
                          values(volume, "volume", static_cast<std::int64_t>(self.n_hills())));
        },
        array("a"), array("b"), array("flow"), array("volume"), Released());
    hills.def(
        "join",
        [](JoiningHills& self, double flow_weight, double usual_flow) {
            return all_joined(self, Separation{flow_weight, usual_flow});
        },
        nb::arg("flow_weight"), nb::arg("usual_flow"));
}

void bind_forest(nb::module_& m) {
    bind_forest_of<float>(m);
    bind_forest_of<double>(m);
    bind_joining(m);
    m.def(
        "first_denser",
        [](const RowArrays& given, In<Index> rank, Out<Offset> position, int n_threads) {
            const Rows rows = given.checked();
            first_denser(rows, values(rank, "rank", rows.n_samples), values(position, "position", rows.n_samples),
                         n_threads);
        },
        array("rows"), array("rank"), array("position"), nb::arg("n_threads"), Released());
    m.def(
        "sort_descending",
        [](In<double> by, Out<Index> order) {
            sort_descending(values(by, "values", length(order)), order.data(), length(order));
        },
        array("values"), array("order"), Released());
    m.def(
        "follow_links",
        [](In<Index> links, Out<Index> ends) {
            follow_links(static_cast<Index>(length(links)), links.data(), values(ends, "ends", length(links)));
        },
        array("links"), array("ends"), Released());
    m.def(
        "split_hills",
        [](In<Index> parent, In<double> delta, In<Index> hill, std::optional<In<double>> longest_up, double max_link,
           Out<Index> short_parent, Out<double> short_delta, Out<Index> part, int n_threads) {
            const std::int64_t n = length(parent);
            split_hills(static_cast<Index>(n), parent.data(), values(delta, "delta", n), values(hill, "hill", n),
                        longest_up ? values(*longest_up, "longest_up", n) : nullptr, max_link,
                        values(short_parent, "short_parent", n), values(short_delta, "short_delta", n),
                        values(part, "part", n), n_threads);
        },
        array("parent"), array("delta"), array("hill"), array("longest_up").none(), nb::arg("max_link"),
        array("short_parent"), array("short_delta"), array("part"), nb::arg("n_threads"), Released());
    m.def(
        "join_cores",
        [](const RowArrays& given, In<bool> core, Out<Index> component) {
            const Rows rows = given.checked();
            join_cores(rows, values(core, "core", rows.n_samples), values(component, "component", rows.n_samples));
        },
        array("rows"), array("core"), array("component"), Released());
    m.def(
        "score_merges",
        [](In<Index> classes, Index n_classes, In<Index> from, In<Index> to, Filled<std::int64_t> pairs,
           Filled<double> shares) {
            const std::int64_t n_merges = length(from);
            score_merges(static_cast<Index>(length(classes)), classes.data(), n_classes, n_merges, from.data(),
                         values(to, "to", n_merges), values(pairs, "pairs", n_merges + 1, 2),
                         values(shares, "shares", n_merges + 1, 2));
        },
        array("classes"), nb::arg("n_classes"), array("from_"), array("to"), array("pairs"), array("shares"),
        Released());
}

}  // namespace diffpeaks
