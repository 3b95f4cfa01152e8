// Every link between the pages leads to a file, and to a heading where it names one.
import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { brokenLinks } from '../support/page-links.ts';
import { root } from '../support/source-files.ts';

// The README of the command links to pages that the build copies: install.test.ts follows its links in the package.
const PAGES = ['.', 'docs', 'bench', 'examples', 'packages/gateway', 'packages/server'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name)),
);

test.each(PAGES)('%s has no broken link', (page) => {
  expect(brokenLinks(root, page)).toEqual([]);
});
