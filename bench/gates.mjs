// The bars. `steady` ones are CPU, counts and memory, which hold on a busy machine too: the tests fail on those.
export const GATES = [
  { measure: 'latency', figure: 'p50 ÷ byte pipe', atMost: 1.25 },
  { measure: 'throughput', figure: 'calls/s ÷ SDK aggregator', atLeast: 5 },
  { measure: 'throughput', figure: 'CPU per call ÷ SDK aggregator', atMost: 0.15, steady: true },
  { measure: 'scale', figure: 'CPU at 10,000 tools ÷ at 10', atMost: 1.1, steady: true },
  { measure: 'scale', figure: 'CPU in a group of 10 of 10,000 ÷ at 10', atMost: 1.1, steady: true },
  { measure: 'results', figure: '10 MB ÷ direct', atMost: 1.5 },
  { measure: 'results', figure: 'CPU per MB at 10 MB ÷ at 1 MB', atMost: 1.5, steady: true },
  { measure: 'results', figure: 'CPU per MB at 64 MB ÷ at 10 MB', atMost: 1.5, steady: true },
  { measure: 'boot', figure: 'ms ÷ node -e 0', atMost: 2 },
  { measure: 'boot', figure: 'CPU ÷ node -e 0', atMost: 2, steady: true },
  { measure: 'start', figure: '10 servers ÷ (bare spawn + own boot)', atMost: 1.1 },
  { measure: 'start', figure: '30 servers ÷ (bare spawn + own boot)', atMost: 1.1 },
  { measure: 'lazy', figure: 'lazy ÷ fresh', atMost: 0.1 },
  { measure: 'first-list', figure: '30 servers ÷ node -e 0', atMost: 2 },
  { measure: 'first-list', figure: '30 servers ÷ 5 servers', atMost: 1.1 },
  { measure: 'fleet', figure: 's until listed', atMost: 5 },
  { measure: 'first-call', figure: '1,000 schemas ÷ 10 plain', atMost: 2 },
  { measure: 'memory', figure: 'resident ÷ bare Node', atMost: 1.2, steady: true },
  { measure: 'slow-reader', figure: 'grown by MB', atMost: 16, steady: true },
  { measure: 'slow-reader', figure: 'answered ÷ asked', atLeast: 1, steady: true },
  { measure: 'http-latency', figure: 'p50 ÷ SDK server', atMost: 0.6 },
  { measure: 'http-latency', figure: 'p50 with sessions ÷ SDK server', atMost: 0.6 },
  { measure: 'http-latency', figure: 'p50 to the SDK server ÷ direct, by node:http', atMost: 1.6 },
  { measure: 'http-latency', figure: 'p50 to the SDK server ÷ plain proxy, by node:http', atMost: 1.2 },
  { measure: 'http-throughput', figure: 'calls/s ÷ SDK server', atLeast: 4 },
  { measure: 'http-throughput', figure: 'calls/s with sessions ÷ SDK server', atLeast: 4 },
  { measure: 'http-throughput', figure: 'CPU per call ÷ SDK server', atMost: 0.25, steady: true },
  { measure: 'http-scale', figure: 'CPU at 10,000 tools ÷ at 10', atMost: 1.1, steady: true },
  { measure: 'http-scale', figure: 'CPU at 500 sessions ÷ at 1', atMost: 1.1, steady: true },
  { measure: 'http-scale', figure: 'processes at 500 sessions ÷ at 1', atMost: 1, steady: true },
  { measure: 'before', figure: 'p50, 64 bytes ÷ before', atMost: 1.05 },
  { measure: 'before', figure: 'CPU per call, one after the other ÷ before', atMost: 1.05 },
  { measure: 'before', figure: 'CPU per call, 64 in flight ÷ before', atMost: 1.05 },
  { measure: 'before', figure: '10 MB ÷ before', atMost: 1.15 },
  { measure: 'before', figure: 'HTTP CPU per call, one after the other ÷ before', atMost: 1.05 },
  { measure: 'before', figure: 'HTTP CPU per call, 64 in flight ÷ before', atMost: 1.05 },
  // Libraries for servers. A gate with `library` is judged where that library is installed.
  { measure: 'server-http', figure: 'modern, one at a time ÷ plain SDK', atMost: 0.55, steady: true },
  { measure: 'server-http', figure: 'modern, 16 in flight ÷ plain SDK', atMost: 0.55, steady: true },
  { measure: 'server-http', figure: 'legacy, one at a time ÷ plain SDK', atMost: 0.55, steady: true },
  { measure: 'server-http', figure: 'legacy, 16 in flight ÷ plain SDK', atMost: 0.55, steady: true },
  { ...aheadOf('fastmcp', 'legacy, one at a time'), measure: 'server-http', steady: true },
  { ...aheadOf('fastmcp', 'legacy, 16 in flight'), measure: 'server-http', steady: true },
  { ...aheadOf('@mcp-z/server', 'modern, one at a time'), measure: 'server-http' },
  { ...aheadOf('@mcp-z/server', 'modern, 16 in flight'), measure: 'server-http' },
  { ...aheadOf('@mcp-z/server', 'legacy, one at a time'), measure: 'server-http' },
  { ...aheadOf('@mcp-z/server', 'legacy, 16 in flight'), measure: 'server-http' },
  { measure: 'server-stdio', figure: 'modern, one at a time ÷ plain SDK', atMost: 1.1 },
  { measure: 'server-stdio', figure: 'modern, 16 in flight ÷ plain SDK', atMost: 1.1 },
  { measure: 'server-stdio', figure: 'legacy, one at a time ÷ plain SDK', atMost: 1.1 },
  { measure: 'server-stdio', figure: 'legacy, 16 in flight ÷ plain SDK', atMost: 1.1 },
  { ...aheadOf('fastmcp', 'legacy, one at a time'), measure: 'server-stdio' },
  { ...aheadOf('fastmcp', 'legacy, 16 in flight'), measure: 'server-stdio' },
  { measure: 'server-list', figure: 'modern, 200 tools ÷ plain SDK', atMost: 0.55 },
  { measure: 'server-list', figure: 'legacy, 200 tools ÷ plain SDK', atMost: 0.55 },
  { ...aheadOf('fastmcp', 'legacy, 200 tools'), measure: 'server-list' },
  {
    measure: 'server-first-call',
    figure: 'stdio, CPU ms, 100 schemas ÷ one plain tool',
    atMost: 2,
    steady: true,
  },
  {
    measure: 'server-first-call',
    figure: 'HTTP, CPU ms, 100 schemas ÷ one plain tool',
    atMost: 2,
    steady: true,
  },
  // Of some milliseconds, so that a single garbage collection doubles it.
  {
    measure: 'server-first-call',
    figure: 'stdio, CPU ms of the call, 100 schemas ÷ one plain tool',
    atMost: 2,
  },
  {
    measure: 'server-first-call',
    figure: 'HTTP, CPU ms of the call, 100 schemas ÷ one plain tool',
    atMost: 2,
    steady: true,
  },
  { measure: 'server-memory', figure: 'grown by MB at 1,000 sessions', atMost: 100, steady: true },
];

/** The library's figure is more than ours; as ratios of two medians are never quite equal, 1 is as good as less. */
function aheadOf(library, row) {
  return { figure: `${row} ÷ ${library}`, atMost: 1, library };
}

/** Each gate with what was measured; those whose figure this run did not measure are left out. */
export function judge(results) {
  return GATES.flatMap((gate) => {
    const value = results[gate.measure]?.figures?.[gate.figure];
    if (value === undefined || value === null) return [];
    const passed = value <= (gate.atMost ?? Infinity) && value >= (gate.atLeast ?? -Infinity);
    return [{ ...gate, value, passed }];
  });
}
