import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** A link to a file, and to a heading where it names one. */
interface PageLink {
  readonly written: string;
  /** Path of the file, from the folder of all pages. */
  readonly file: string;
  readonly heading: string | undefined;
}

/** Returns the links and pictures of a page that lead to files. */
export function linksOf(folder: string, page: string): PageLink[] {
  const targets = textOf(folder, page).matchAll(/\]\(([^)\s]+)\)/gu);
  return Array.from(targets, ([, target]) => target ?? '')
    .filter((target) => !/^https?:/u.test(target))
    .map((written) => {
      const [path = '', heading] = written.split('#');
      return { written, file: path === '' ? page : posix.join(posix.dirname(page), path), heading };
    });
}

/** Returns the links of a page that lead to no file or to no heading. */
export function brokenLinks(
  folder: string,
  page: string,
  isThere = (file: string): boolean => existsSync(join(folder, file)),
): string[] {
  return linksOf(folder, page)
    .filter(
      ({ file, heading }) =>
        !isThere(file) || (heading !== undefined && !headingsOf(folder, file).includes(heading)),
    )
    .map(({ written }) => written);
}

/** Returns the headings of a page as links write them. */
function headingsOf(folder: string, page: string): string[] {
  const prose = textOf(folder, page).replaceAll(/^```.*?^```/gmsu, '');
  return Array.from(prose.matchAll(/^#+ (.*)$/gmu), ([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\d_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function textOf(folder: string, page: string): string {
  return readFileSync(join(folder, page), 'utf8');
}
