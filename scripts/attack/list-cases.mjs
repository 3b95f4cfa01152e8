// @ts-check
// The attack list, sections A to D.
import { attackCase, notBuilt } from './case.mjs';

const NO_OAUTH = 'not built yet: Weir knows one token of its own, and neither OAuth nor users';
const RELAYED =
  'by design: texts and results are relayed byte for byte. A client must treat them as untrusted';

const START = 'tests/e2e/lifecycle/start-errors.test.ts';
const BAD_REQUESTS = 'tests/e2e/http/refused-requests.test.ts';
const BACK_PRESSURE = 'tests/e2e/calls/back-pressure.test.ts';
const HOSTILE_SERVERS = 'tests/e2e/calls/hostile-peers.test.ts';
const FEATURES = 'tests/e2e/calls/features.test.ts';
const LOAD = 'packages/gateway/src/config/load.test.ts';

export const CONFIGS = [
  attackCase(1, 'A shell line as "command" is not found and runs nothing: no shell is ever used.'),
  attackCase(2, 'Shell characters in "args" reach the server as one argument each.'),
  attackCase(3, 'The value of a variable is not expanded again.'),
  attackCase(4, 'The key __proto__ and inherited names are keys like any other.', [
    [LOAD, 'loadConfig accepts a server called __proto__'],
    [
      'packages/gateway/src/config/expand-env.test.ts',
      'expandEnvVar treats inherited properties of env as missing variables',
    ],
  ]),
  attackCase(5, 'A missing variable fails the start with its name and place, and no value.', [
    [START, 'the start names all variables that are not set, with their places'],
    [LOAD, 'loadConfig prints no secret of a damaged file'],
  ]),
  attackCase(6, "A server sees a short list of variables and its own env, not the gateway's environment.", [
    [
      'tests/e2e/config/environment.test.ts',
      'a server gets a short safe list of variables and its own env, and nothing else',
    ],
  ]),
  attackCase(
    7,
    'A config is read only where --config names it.',
    [],
    'a record of which commands a user has approved is not built yet',
  ),
  attackCase(8, 'HTTP clients cannot add, change or start a server.'),
  attackCase(9, 'Output without a newline, noise or foreign ids on stdout fail that server or call alone.', [
    [BACK_PRESSURE, 'a line of a server over the limit fails only the call that it answers'],
    [HOSTILE_SERVERS, 'invalid responses of a server reach only its own callers'],
    [HOSTILE_SERVERS, 'the gateway finds the messages between noise on stdout'],
  ]),
  attackCase(10, 'Escape sequences and line breaks on stderr are escaped in the log.', [
    [
      'packages/gateway/src/upstream/process/output-tail.test.ts',
      'the output tail escapes control characters, so that a server cannot forge a line',
    ],
  ]),
  attackCase(11, 'A server that ignores SIGTERM, and its children, are killed.', [
    ['tests/e2e/lifecycle/leftover-processes.test.ts', 'no child, no grandchild and no guard is left'],
  ]),
  attackCase(12, 'A server that exits at every start is tried after 1, 5 and 15 s, then disabled.', [
    ['tests/e2e/lifecycle/supervision.test.ts', 'restarts after 1, 5 and 15 s of real time'],
  ]),
  attackCase(13, 'On Windows an argument that could leave its quotes is refused.', [
    [
      'packages/gateway/src/upstream/process/windows-command.test.ts',
      'windowsCommand refuses an argument that could leave its quotes, and does not show it',
    ],
  ]),
  attackCase(14, 'A command or "cwd" in a folder that every user can write to is started with a warning.'),
  attackCase(
    15,
    'A container is never privileged and gets neither the root folder nor the engine of the machine.',
    [
      [START, "a volume that hands the engine's socket to a container is an error, also without a socket"],
      [
        'packages/gateway/src/upstream/container/create-arguments.test.ts',
        'the arguments of docker create are hardened by default for every form of entry',
      ],
    ],
  ),
  attackCase(
    16,
    'A config over 16 MiB, of over 1,000 servers, too deep or full of mistakes is refused with a bounded message.',
  ),
  attackCase(17, 'Two tools that would get the same public name fail the start.', [
    [START, 'the start fails for names that collide because a key contains the separator'],
  ]),
];

export const LISTS = [
  notBuilt(18, 'Instructions and invisible characters in descriptions are passed on.', RELAYED),
  notBuilt(
    19,
    'A description may change after it was approved.',
    'not built yet: definitions are not pinned',
  ),
  notBuilt(
    20,
    'A tool that appears at run time is listed.',
    'not built yet: tools are not approved one by one',
  ),
  attackCase(21, 'A storm of list_changed is read with growing pauses and told as one notice.', [
    [FEATURES, 'the gateway does not read a list once per notice of a storm'],
    [FEATURES, 'clients get one notice for many announcements of a changed list'],
  ]),
  attackCase(
    22,
    'Tools of two servers that look alike carry the key of their server.',
    [['tests/e2e/calls/names.test.ts', 'public names have a colon between key and tool by default']],
    'a warning about confusable letters is not built yet',
  ),
  attackCase(
    23,
    "A tool with another server's prefix, an odd or a long name never routes to another server.",
    [
      [HOSTILE_SERVERS, 'invalid tools in a list hide no valid ones'],
      ['tests/e2e/calls/names.test.ts', 'another spelling never wins over a listed name'],
    ],
  ),
  notBuilt(24, "A description may name another server's tool.", RELAYED),
  notBuilt(
    25,
    'A false readOnlyHint makes Weir repeat a lost call, as documented; nothing is permitted by it.',
    'not built yet: Weir has no permissions for single tools that a hint could widen',
  ),
  attackCase(26, 'References in schemas are not followed, and patterns are not run.'),
  attackCase(27, 'A tool with an invalid x-mcp-header is left out, alone.', [
    [
      'tests/e2e/remote/remote-servers.test.ts',
      'the gateway omits only the remote tool with an invalid x-mcp-header',
    ],
  ]),
  attackCase(28, 'A list without end is cut off; the rest is used.', [
    [FEATURES, 'the gateway cuts an endless list off where its cursors repeat, and uses the rest'],
    [FEATURES, 'the gateway cuts off a list with ever new cursors'],
  ]),
  attackCase(29, 'A template that backtracks is matched in time that grows with the URI alone.'),
  attackCase(
    30,
    'Icons of definitions are http, https or data addresses; others are taken out.',
    [],
    'links in results are passed on',
  ),
];

export const RESULTS = [
  notBuilt(31, 'Instructions in results are passed on as data and never executed.', RELAYED),
  notBuilt(32, 'A server that repeats a secret it was given is not censored.', RELAYED),
  attackCase(
    33,
    'A result over the size limit fails its call; a million links are rewritten in linear time.',
    [
      [BACK_PRESSURE, 'a line of a server over the limit fails only the call that it answers'],
      [
        'packages/gateway/src/call/uri-edits.test.ts',
        'uriEdits rewrites 600,000 URIs in any order within 10 s',
      ],
    ],
  ),
  attackCase(34, 'structuredContent that fits no schema is passed on and ends nothing.', [
    [HOSTILE_SERVERS, 'results keep unknown fields at every depth and unknown or missing content'],
  ]),
  attackCase(35, 'Links in results are not fetched.'),
  attackCase(36, 'Base64 and MIME types are data: only the size of the message counts.', [
    [BACK_PRESSURE, 'a line of a server over the limit fails only the call that it answers'],
  ]),
  attackCase(
    37,
    'A question reaches only a client that can be asked it; no address is opened by Weir.',
    [
      [
        'tests/e2e/eras/url-elicitation.test.ts',
        'an address to visit is an error for a client without URL elicitation',
      ],
    ],
    'forms that ask for passwords are not recognised',
  ),
  attackCase(38, 'During one call a client is asked at most 256 times.'),
  attackCase(39, 'A requestState that was changed, replayed or swapped is refused.', [
    [
      'tests/e2e/eras/request-state.test.ts',
      'the gateway refuses a changed requestState, and the right one still works',
    ],
    ['tests/e2e/eras/request-state.test.ts', 'a requestState can be used once'],
    [
      'tests/e2e/eras/request-state.test.ts',
      'a requestState is invalid for another client and at another gateway',
    ],
  ]),
  attackCase(40, 'Nothing in _meta makes a client another client.', [
    [
      'tests/e2e/eras/request-state.test.ts',
      'a requestState is invalid for another client and at another gateway',
    ],
    [
      'tests/e2e/calls/tasks.test.ts',
      'only the client that created a task lists it and gets its notifications',
    ],
  ]),
  attackCase(41, 'An answer to a cancelled or unknown request is dropped.', [
    [FEATURES, 'a cancellation reaches the server under its own id, and the call gets no answer'],
    [HOSTILE_SERVERS, 'invalid responses of a server reach only its own callers'],
  ]),
  attackCase(
    42,
    "Weir's own errors hold no secret and no stack; the history keeps no secret of a server's error.",
    [
      ['packages/gateway/src/call/history/history.test.ts', 'history redacts the errors of calls'],
      [LOAD, 'loadConfig prints no secret of a damaged file'],
    ],
    "a server's own error reaches its caller as the server wrote it",
  ),
];

export const HTTP = [
  attackCase(
    43,
    'A request without the token gets 401 before its body is read.',
    [],
    'resource_metadata: no OAuth yet',
  ),
  notBuilt(44, 'Forged JWTs.', NO_OAUTH),
  notBuilt(45, 'Tokens for another audience.', NO_OAUTH),
  notBuilt(46, 'ID tokens as access tokens.', NO_OAUTH),
  notBuilt(47, 'Tokens without the scope.', NO_OAUTH),
  attackCase(48, 'A token in the URL is not accepted.', [
    [BAD_REQUESTS, 'the gateway refuses a missing, wrong or misplaced token'],
  ]),
  attackCase(49, 'Two Authorization headers, odd schemes and other headers give no access.', [
    [
      'packages/gateway/src/front/http/access.test.ts',
      'Admission accepts the token with its scheme in any letter case',
    ],
  ]),
  notBuilt(
    50,
    'Guessing the token is not slowed down.',
    'not built yet. The token has 256 random bits and is compared in constant time',
  ),
  notBuilt(51, 'A revoked token.', NO_OAUTH),
  attackCase(52, 'A foreign, missing or similar Host is refused.', [
    [BAD_REQUESTS, 'the gateway refuses a foreign Host'],
  ]),
  attackCase(53, 'A foreign, null or malformed Origin is refused, other ports of this machine included.', [
    [BAD_REQUESTS, 'the gateway refuses a foreign Origin, also another port of this machine'],
  ]),
  attackCase(54, 'A page cannot post JSON as text/plain or a form.', [
    [BAD_REQUESTS, 'the gateway refuses other content types and encodings'],
  ]),
  attackCase(55, 'A preflight of a foreign page gets no permission.'),
  attackCase(56, 'Mcp-Method and Mcp-Name that contradict the body are refused.', [
    [BAD_REQUESTS, 'the gateway refuses headers that contradict the body'],
    [BAD_REQUESTS, 'the gateway refuses a header that contradicts the argument it repeats'],
  ]),
  attackCase(57, 'Large, endless, slow, deep or odd bodies are refused or harmless.', [
    [BAD_REQUESTS, 'the gateway refuses a body of 5 MB'],
    [BAD_REQUESTS, 'the gateway refuses bodies that are invalid or too deep JSON'],
    [BAD_REQUESTS, 'the gateway ends slow requests with 408 while it serves others'],
  ]),
  attackCase(58, 'A batch outside protocol version 2025-03-26 is refused.', [
    [BAD_REQUESTS, 'the gateway refuses a batch outside its revision'],
  ]),
  attackCase(59, 'Other methods of HTTP are refused.', [
    [BAD_REQUESTS, 'the gateway refuses other HTTP methods'],
  ]),
  attackCase(
    60,
    'No more than 1,000 subscription streams are open; the next is refused.',
    [],
    'the limit is for all clients: Weir cannot tell users apart yet',
  ),
  attackCase(61, 'A call whose client hangs up is cancelled at its server.', [
    [
      'tests/e2e/http/sessions.test.ts',
      'the gateway cancels a modern call at its server when the client hangs up',
    ],
  ]),
  attackCase(62, 'Requests with two lengths or without an end of their header are refused and closed.', [
    [BAD_REQUESTS, 'the gateway refuses two lengths, a missing Host and an endless header'],
  ]),
  attackCase(63, 'A guessed or foreign session id is not found.', [
    [BAD_REQUESTS, 'the gateway answers 404 for unknown session ids'],
  ]),
  attackCase(64, 'Answers of clients with the same ids never cross.', [
    [
      'tests/e2e/http/many-clients.test.ts',
      'answers of 10,000 interleaved calls of two legacy clients never cross',
    ],
    [
      'tests/e2e/http/many-clients.test.ts',
      'answers of 10,000 interleaved calls of two modern clients with one token never cross',
    ],
  ]),
  attackCase(65, 'A cache hint of a list is the most private of its servers.', [
    [
      'tests/e2e/calls/aggregate.test.ts',
      'a list gets the shortest and most private cache hints of its servers',
    ],
  ]),
  attackCase(66, '/healthz and /readyz tell no address, command or token.'),
  attackCase(67, 'Without a token Weir serves this machine alone, or does not start.', [
    [
      'tests/e2e/cli/serve-command.test.ts',
      'weir serve runs without a token only with --no-auth, and only on this machine',
    ],
  ]),
  attackCase(68, 'X-Forwarded-* and Forwarded decide nothing.'),
];
