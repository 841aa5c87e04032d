// Order of search results: guides and the reference before design records and papers.
var Scorer = {
  score: ([docname, , , , score]) => (/^(design|papers)\//.test(docname) ? score / 4 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
