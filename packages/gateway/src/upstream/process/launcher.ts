/** Programs that may download what they run. */
const ALWAYS = new Set(['npx', 'pnpx', 'bunx', 'uvx']);

/** Programs that do so with these words after their name. */
const WITH_WORDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  npm: [['exec'], ['x']],
  pnpm: [['dlx']],
  yarn: [['dlx']],
  bun: [['x']],
  uv: [['run'], ['tool', 'run'], ['x']],
  pipx: [['run']],
  go: [['run']],
  docker: [['run'], ['container', 'run'], ['compose', 'run'], ['mcp', 'gateway', 'run']],
  podman: [['run'], ['container', 'run']],
  nerdctl: [['run'], ['container', 'run']],
};

const WINDOWS_ENDINGS = ['.cmd', '.exe', '.bat', '.ps1'];

const REMOTE_MODULE = /^(?:npm|jsr|https?):/;

/** Returns true for a command that may download its server first, and so needs more time. */
export function isLauncher(command: string, args: readonly string[]): boolean {
  const name = programName(command);
  if (ALWAYS.has(name)) return true;
  if (name === 'deno') return startsWithWords(args, ['run']) && args.some((arg) => REMOTE_MODULE.test(arg));
  // A usual config on Windows: cmd /c npx …
  if (name === 'cmd') return /^\/c$/i.test(args[0] ?? '') && isLauncher(args[1] ?? '', args.slice(2));
  const wordings = Object.hasOwn(WITH_WORDS, name) ? WITH_WORDS[name] : undefined;
  return wordings?.some((words) => startsWithWords(args, words)) ?? false;
}

/** `C:\Program Files\nodejs\npx.CMD` and `/usr/bin/npx` are both npx. */
function programName(command: string): string {
  const base = command.slice(Math.max(command.lastIndexOf('/'), command.lastIndexOf('\\')) + 1).toLowerCase();
  return WINDOWS_ENDINGS.some((ending) => base.endsWith(ending)) ? base.slice(0, -4) : base;
}

/** Options may stand in front and between, each perhaps with a value of its own: `uv --directory /srv run x`. */
function startsWithWords(args: readonly string[], words: readonly string[]): boolean {
  const [word, ...rest] = words;
  if (word === undefined) return true;
  for (const [index, arg] of args.entries()) {
    if (arg.startsWith('-')) continue;
    if (arg === word) return startsWithWords(args.slice(index + 1), rest);
    if (!mayBeValueOf(args[index - 1])) return false;
  }
  return false;
}

function mayBeValueOf(option: string | undefined): boolean {
  return option !== undefined && option.startsWith('-') && !option.includes('=');
}
