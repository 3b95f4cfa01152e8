// Every link between the pages leads to a file, and to a heading where it names one.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/source-files.ts';

const PAGES = ['.', 'docs', 'bench', 'examples', 'packages/cli', 'packages/gateway'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

test.each(PAGES)('%s has no broken link', (page) => {
  const targets = Array.from(textOf(page).matchAll(/\]\(([^)\s]+)\)/gu), ([, target]) => target ?? '');
  const local = targets.filter((target) => !/^https?:/u.test(target));
  expect(local.filter((target) => !leadsSomewhere(page, target))).toEqual([]);
});

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', heading] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  return existsSync(join(root, file)) && (heading === undefined || headingsOf(file).includes(heading));
}

/** Returns the headings of a page as links write them. */
function headingsOf(page: string): string[] {
  const prose = textOf(page).replaceAll(/^```.*?^```/gmsu, '');
  return Array.from(prose.matchAll(/^#+ (.*)$/gmu), ([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\d_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}
