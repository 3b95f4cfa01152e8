/** A requirement of the product. A test cites an id with `verifies('AGG-CFG-1', …)`; `npm test` counts it as proved where one passed. */
export interface Requirement {
  readonly id: string;
  readonly text: string;
  /** `open`: not begun. `partial`: what is built is proved, the rest is named in `open`. `done`: all of it is proved. */
  readonly status: 'open' | 'partial' | 'done';
  /** The missing part of a partial requirement. */
  readonly open?: string;
  /** Each number that it names. `npm run mutate` tries wrong ones, so that none of them can drift. */
  readonly numbers?: readonly string[];
}

/** Numbers that no constant of the code has, and what holds them instead. */
export const MEASURED: Readonly<Record<string, string>> = {
  'AGG-PERF-1': 'tests/tools/performance-floors.test.ts measures them',
  'PERF-1': 'tests/tools/bench.test.ts measures the bars of bench/gates.mjs',
  'PERF-2': 'tests/tools/bench.test.ts measures the bars of bench/gates.mjs',
};

export const requirements: readonly Requirement[] = [
  // The aggregator
  done(
    'AGG-CFG-1',
    'The config file hosts already use is enough: servers by key, with command, args and env',
  ),
  done(
    'AGG-CFG-2',
    'The whole config is checked before anything starts, also by createGateway; all mistakes are told at once, with their place',
  ),
  done(
    'AGG-CFG-3',
    'A config that cannot be used is a ConfigError with a stable code, and never shows a secret',
  ),
  done(
    'AGG-CFG-4',
    "Other hosts' keys, comments and our own optional keys are understood; unknown keys warn; an entry that is this gateway is skipped",
    ['8 gateways behind one another'],
  ),
  done('AGG-ENV-1', 'Variables are expanded in every string value, once, in the spellings that hosts use'),
  done(
    'AGG-ENV-2',
    'All missing variables are named together with their places, defaults are honoured, nothing starts',
  ),
  done(
    'AGG-ENV-3',
    'A child sees a short list of harmless variables and its own env; inheritEnv widens that',
  ),
  done(
    'AGG-CHILD-1',
    'Children start in parallel without a shell, a bounded number at a time, each start one ChildServerClient',
    ['2 × cores at a time', '1 s of silence'],
  ),
  done(
    'AGG-CHILD-2',
    'A child runs once it has answered handshake and first list; one that hangs is given up, with its stderr; a busy machine gets longer limits',
    ['5 s', '60 s for launchers', '30 s at most', '2 × cores before a limit grows'],
  ),
  done(
    'AGG-CHILD-3',
    'With fail fast a failed start names the server, exits 1 and leaves nothing running; keep going starts the rest, and the host sees what is missing',
    ['exit code 1'],
  ),
  done(
    'AGG-CHILD-4',
    'A crash answers the calls in flight at once, takes the tools out, tells clients and touches no other server',
  ),
  done('AGG-CHILD-5', 'However the gateway ends, no child and no grandchild outlives it', [
    '2 s after the end of input',
    '2 s after SIGTERM',
    '1 s and 1 s for a server that is starting',
    '2 s for requests that were read',
    '5 s until nothing is left',
  ]),
  done('AGG-CHILD-6', "Children see one client name and the real client's capabilities"),
  done(
    'AGG-REG-1',
    'Tools are listed under key, separator and name, each once, only while their server runs or is remembered; lookup is constant',
  ),
  done('AGG-REG-2', "A child's list_changed is followed and passed on, coalesced", [
    '30 s at most between readings',
  ]),
  done(
    'AGG-REG-3',
    'The handshake is answered at once; the first list is answered from the remembered catalogue, or waits for the servers within limits',
    ['1 s after the last one became ready', '200 ms before servers are started'],
  ),
  done('AGG-SEP-1', 'The separator is free, within reason; a bad one stops the start and says why'),
  done(
    'AGG-SEP-2',
    'Calls are routed by what is registered; a name with the prefix of a configured server never reaches another server',
  ),
  partial(
    'AGG-SEP-3',
    'Each command name has its own default separator; names that hosts refuse are reported, shortened or cleaned; calls are accepted under the usual aliases',
    '`weir install` writes the separator a host needs',
    ['64 characters'],
  ),
  done('AGG-SEP-4', '--no-prefix lists bare names and refuses collisions, naming both owners'),
  done(
    'AGG-CALL-1',
    'Arguments, results, errors and definitions pass byte for byte; one malformed tool hides no other; what is not JSON is an error of its call',
  ),
  done(
    'AGG-CALL-2',
    'Unknown and malformed names are answered with a clear message and the code the protocol demands',
    ['code −32602'],
  ),
  done(
    'AGG-CALL-3',
    'Everything else of the protocol passes too: resources, prompts, completions, logging, progress, cancellation …',
    ['2,000 characters of instructions'],
  ),
  done(
    'AGG-CLI-1',
    'The command has the documented options, usage text and exit codes; mcp-simple-aggregator has the documented defaults, weir those that hosts need',
    ['exit code 1', 'exit code 2', 'version 1.0.0'],
  ),
  done('AGG-CLI-2', 'stdout carries the protocol alone; logs go to stderr or a file; --debug shows times'),
  done(
    'AGG-PERF-1',
    'Ten servers within 5 s, a list within 1 s, under 50 ms added to a call, 50 MB at rest',
    ['10 servers in 5 s', 'a list in 1 s', '50 ms', '50 MB'],
  ),
  done('AGG-API-1', '@weir/gateway exports the documented names, and the gateway itself uses them'),
  done(
    'AGG-QA-1',
    'Strict TypeScript, ES modules, no any, explicit types on exports, coverage of 80 % or more',
    ['coverage of 80 %', 'Node 20.19', 'ES2022 or later'],
  ),
  partial(
    'AGG-QA-2',
    'Linux, macOS and Windows; what was only tried on Linux is listed as unproven',
    'a run on macOS and Windows',
  ),

  // Both generations of the protocol
  done('ERA-1', 'Clients and servers of both generations, in one process, on stdio and HTTP', [
    '2024-11-05',
    '2025-03-26',
    '2025-06-18',
    '2025-11-25',
    '2026-07-28',
  ]),
  done('ERA-2', 'Questions are carried across generations in all four combinations'),
  // What the front itself must refuse (headers that do not fit the body) it refuses also for a server that would not.
  done('ERA-3', 'The official conformance suite gives the same verdicts through the gateway as directly'),
  done('ERA-4', "A child's generation is found out in place, without a second start, and remembered", [
    '2 s',
  ]),
  done('ERA-5', 'Listen streams, cache hints, headers and trace context are derived anew on each hop'),

  // Supervision, limits, history
  done('HEALTH-1', 'Connected servers are probed regularly, and the findings kept', ['30 s between probes']),
  done(
    'HEALTH-2',
    'A lost server is reconnected with growing pauses, and disabled after three failures in a row; one that only the network kept away is tried again',
    [
      '1 s before the first attempt',
      '5 s before the second',
      '15 s before the third',
      'three attempts',
      '30 s of running',
      '5 s without an answer',
      '5 minutes between attempts to reach it',
    ],
  ),
  partial(
    'HEALTH-3',
    'Enabling and disabling work while running and survive a restart, as does the failure count; the config is reloaded in place',
    'from the console',
  ),
  partial(
    'HEALTH-4',
    'Every call is a ToolInvocationRequest with a UUID, its states and its result, and a time limit that progress extends',
    'calls of documents',
  ),
  partial(
    'HEALTH-5',
    'Concurrent and total calls are limited where configured; waiting calls queue; refused calls do not count; pause and resume',
    'the limits that calls of documents, of an AI and of the console have unless configured',
    ['1,000 calls in the queue', '−1 for no limit'],
  ),
  done(
    'HEALTH-6',
    'A call is retried only when that can do no harm; one that waits for its server keeps its program alive',
    ['3 retries'],
  ),
  done('HEALTH-7', 'A redacted, rotated history of all calls can be searched', ['16 MiB of history']),
  partial(
    'HEALTH-8',
    'The documented types of servers, health, invocations and bindings are exported; values of them can be read and made',
    'the types of documents',
  ),

  // Containers and remote servers
  partial(
    'MANAGED-1',
    'A server may be a container image, spoken to by attach or by a published loopback port',
    "tests with Podman's docker command: stdio was tried by hand, published ports were not",
    ['127.0.0.1'],
  ),
  done(
    'MANAGED-2',
    "Containers are hardened unless the config says otherwise; the engine's sockets are refused by name",
  ),
  done('MANAGED-3', 'No container is left behind, whatever happens to the gateway', ['every minute']),
  partial(
    'MANAGED-4',
    'Remote servers are reached by Streamable HTTP, or by HTTP+SSE as a fallback',
    'OAuth',
  ),
  partial(
    'MANAGED-5',
    'The rules for server entries hold wherever a server is added: unique names, known transports',
    'adding a server from the console',
  ),

  // Documents that call tools
  open(
    'DOC-BLOCK-1',
    'A fence named after a server whose YAML names a tool is a call; so is a tool fence in a bound section',
  ),
  open(
    'DOC-BLOCK-2',
    "Server, tool and parameters are checked first, by the tool's schema; mistakes carry file, line and column",
  ),
  open('DOC-BLOCK-3', 'Looking at a document never runs anything'),
  open('DOC-RESULT-1', 'Results stand under their block, are replaced on the next run, and cannot break out'),
  open(
    'DOC-RESULT-2',
    'Text, JSON, Markdown and images are shown inline, as a block or collapsed; duration and tokens go to the history',
  ),
  open(
    'DOC-BIND-1',
    'A section is bound to servers by heading, block id or line range, in the config, the front matter or a comment',
  ),
  open(
    'DOC-BIND-2',
    'Bindings are inherited, the nearest wins, several of one kind add up, and a bound section permits only its servers',
  ),
  open('DOC-TRUST-1', 'A call is approved before it is made, and the approval remembered by fingerprint'),
  open(
    'DOC-CLI-1',
    'Documents are run, checked, planned, listed and watched from the terminal; a fresh result is not made again',
  ),
  open('DOC-AI-1', 'A model may call the tools of a section through the same limits and approvals'),
  open(
    'DOC-AI-2',
    'A document can be put to a model, local or hosted; its calls and its answer are written to the section',
  ),
  open(
    'DOC-APP-1',
    'A thin Obsidian plugin runs blocks through the gateway and shows its servers and limits',
  ),

  // Building blocks for servers
  done(
    'KIT-CFG-1',
    'A server reads its transport options from arguments and environment; an unknown argument is an error',
    ['ports 1 to 65535'],
  ),
  done('KIT-TRANSPORT-1', 'One call sets a server up on stdio or HTTP, for both eras'),
  done(
    'KIT-OAUTH-1',
    'Login at an identity provider, by loopback or device flow, with refreshed tokens of several accounts',
  ),
  done(
    'KIT-ERR-1',
    'Errors become results or protocol errors by one table, with an id for the log, without stack or path',
    ['statuses from 400', 'services from 500', 'rate limit 429'],
  ),
  done('KIT-RESP-1', 'Responses that ask for a login, and results with both content and structured content'),
  done(
    'KIT-MODULE-1',
    'Tools, resources and prompts are modules whose types flow from their schemas, with one vocabulary of outputs',
  ),
  done('KIT-FILES-1', 'Files are listed and streamed to their owners, and to nobody else'),
  done(
    'KIT-SCOPE-1',
    'Functions only, safe by default, no hidden state; every type of its functions is exported',
  ),

  // What users expect
  partial(
    'SAFE-1',
    'HTTP is closed by default: loopback, checked Host and Origin, a token',
    'OAuth resource server and API keys by config',
  ),
  open(
    'SAFE-2',
    'OAuth to remote servers is guarded, refreshed once, and never passes on the token of the client',
  ),
  open('SAFE-3', 'A tool that changed is held back until approved; hidden characters are shown'),
  partial(
    'SAFE-4',
    'Every attack on the list is a test',
    'sections E and F of the list, and cases of features that are not built; docs/security.md names each',
  ),
  open('SCALE-1', 'Replicas behind a load balancer share their state'),
  partial(
    'SCALE-2',
    'Many servers start lazily from a remembered catalogue; many tools are searched instead of listed',
    'find_tools and call_tool',
  ),
  open(
    'USE-1',
    "Hosts' servers are imported, the gateway installed there, problems diagnosed, tools called by hand",
  ),
  open('USE-2', 'A console in the browser shows servers, tools, calls and approvals'),
  open('USE-3', 'Metrics, traces and structured logs'),

  // Speed
  done(
    'PERF-1',
    'On stdio nothing on the path of a call grows with tools, servers or clients; the bars of the benchmark hold',
    ['the bars of the benchmark'],
  ),
  done('PERF-2', 'The same on HTTP, without a process or a registry per session', [
    'the bars of the benchmark',
  ]),
];

function done(id: string, text: string, numbers: readonly string[] = []): Requirement {
  return { id, text, status: 'done', numbers };
}

function partial(id: string, text: string, stillOpen: string, numbers: readonly string[] = []): Requirement {
  return { id, text, status: 'partial', open: stillOpen, numbers };
}

function open(id: string, text: string): Requirement {
  return { id, text, status: 'open' };
}
