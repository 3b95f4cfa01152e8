// The pages about the commands agree with the command table.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from './args.ts';
import { commandFor, COMMANDS, STDIO, titleOf } from './commands/table.ts';
import { help } from './help.ts';
import { programNamed } from './program.ts';

const root = new URL('../../../', import.meta.url);
const program = programNamed('weir');
const ALL = [STDIO, ...COMMANDS];

test('docs/commands.md shows the help of every command; after a change, run this test with -u', async () => {
  await expect(page()).toMatchFileSnapshot(fileURLToPath(new URL('docs/commands.md', root)));
});

test('the README names every command', () => {
  const readme = readFileSync(new URL('README.md', root), 'utf8');
  expect(COMMANDS.filter((command) => !readme.includes(`\`${titleOf(command, program)}`))).toEqual([]);
});

const DOCS = readdirSync(new URL('docs/', root)).map((name) => `docs/${name}`);
const GUIDES = ['README.md', 'packages/cli/README.md', ...DOCS].filter(
  (path) => path.endsWith('.md') && path !== 'docs/commands.md',
);

test.each(GUIDES)('%s shows only commands and options that exist', (path) => {
  const lines = commandLinesOf(readFileSync(new URL(path, root), 'utf8'));
  expect(lines.flatMap(mistakeIn)).toEqual([]);
});

/** Returns the command line with its usage error, if it has one. */
function mistakeIn(line: string): string[] {
  // N stands for any number.
  const words = line.split(/\s+/u).map((word) => (word === 'N' ? '1' : word));
  const command = commandFor(words[1]);
  try {
    parse(command, words.slice(command === STDIO ? 1 : 2), program);
    return [];
  } catch (error) {
    return [`${line}: ${(error as Error).message}`];
  }
}

/** Returns the command lines of a page: in blocks the lines that begin with `weir`, in text the code that does. */
function commandLinesOf(text: string): string[] {
  const lines = text.matchAll(
    /^ *(?:\$ )?(weir(?: (?!starts )[^\n#]*)?)(?: #.*)?$|`(weir [^`]*)`|-- (weir [^`\n]*)/gmu,
  );
  return Array.from(lines, ([, block, inline, host]) => (block ?? inline ?? host ?? '').trim());
}

/** Returns the page: a table of all commands, then the help of each. */
function page(): string {
  const row = (command: (typeof ALL)[number]): string => {
    const title = titleOf(command, program);
    return `| [\`${title}\`](#${title.replaceAll(' ', '-')}) | ${command.summary} |`;
  };
  // The help of the release has another default version with each release.
  const text = (command: (typeof ALL)[number]): string =>
    help(command, program).replace(program.defaults.version, 'that of Weir');
  return `# Commands

This page is generated from the command table, \`packages/cli/src/commands/table.ts\`. \`mcp-weir\` and \`mcp-simple-aggregator\`
have the same commands.

| command | what it does |
|---|---|
${ALL.map(row).join('\n')}

stdout carries the result and stderr the errors; on stdio, stdout carries the protocol and nothing else. \`--json\` prints
one JSON value, or one per line where the help says so and with \`--watch\` or \`--follow\`. Set \`NO_COLOR\` to turn colours off.

${ALL.map((command) => `## ${titleOf(command, program)}\n\n\`\`\`\n${text(command)}\`\`\``).join('\n\n')}
`;
}
