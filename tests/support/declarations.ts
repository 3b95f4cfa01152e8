import { sourceFiles } from './source-files.ts';

/** Signatures that are longer are shortened to the names of their members. */
const LONGEST = 170;

const OPENING = '([{<';
const CLOSING = ')]}>';

const sources = sourceFiles('packages/server/src', /^(?!.*\.(?:test|case)\.).*\.ts$/u);

/** Returns the signature of a function or a type that `@weir/server` exports, from its sources; undefined for an unknown name. */
export function signatureOf(name: string): string | undefined {
  const pattern = new RegExp(String.raw`^export (?:async )?(function|interface|type) ${name}\b`, 'mu');
  for (const { path, text } of sources) {
    const found = pattern.exec(text);
    // An entry only repeats the names of its block.
    if (found === null || /^packages\/server\/src\/(?!logger)[a-z]+\.ts$/u.test(path)) continue;
    const rest = withoutComments(text.slice(found.index + found[0].length));
    if (found[1] === 'function')
      return `${name}${withoutAliases(oneLine(rest.slice(endOfTypeParameters(rest), endOfHead(rest))), text)}`;
    return found[1] === 'type'
      ? oneLine(rest.slice(endOf(rest, '=') + 1, endOf(rest, ';')))
      : interfaceOf(rest);
  }
  return undefined;
}

/** Writes out the types that only this file knows by a name. */
function withoutAliases(signature: string, file: string): string {
  const aliases = file.matchAll(/^type (\w+) = (.*);$/gmu);
  return Array.from(aliases).reduce(
    (written, [, alias = '', type = '']) => written.replaceAll(new RegExp(`\\b${alias}\\b`, 'gu'), type),
    signature,
  );
}

function interfaceOf(rest: string): string {
  const open = rest.indexOf(' {\n');
  const head = rest.slice(0, open);
  const end = endOf(rest.slice(open + 1), '\n') + open + 1;
  const body = rest.slice(open + 2, end - 1);
  const members = splitMembers(body);
  const parents =
    /extends (.*)$/su
      .exec(head)?.[1]
      ?.split(', ')
      .map((parent) => ` & ${oneLine(parent)}`) ?? [];
  const whole = `{ ${members.join('; ')} }${parents.join('')}`;
  if (whole.length <= LONGEST) return whole;
  const names = members
    .map((member) => /^(\w+\??)(\()?/u.exec(member))
    .map((found) => `${found?.[1]}${found?.[2] ? '()' : ''}`);
  return `{ ${names.join(', ')} }${parents.join('')}`;
}

function splitMembers(body: string): string[] {
  const members: string[] = [];
  for (let rest = body; rest.trim() !== '';) {
    const end = endOf(rest, ';');
    members.push(oneLine(rest.slice(0, end)).replace(/^readonly /u, ''));
    rest = rest.slice(end + 1);
  }
  return members;
}

/** Finds the parenthesis behind the type parameters, which a reader does without. */
function endOfTypeParameters(text: string): number {
  return text.startsWith('<') ? endOf(text, '>') + 1 : 0;
}

/** Finds the brace that opens the body of a function. */
function endOfHead(text: string): number {
  const open = endOfTypeParameters(text);
  const parameters = open + endOf(text.slice(open), ')') + 1;
  return text.indexOf(' {\n', parameters);
}

/** Finds the first `mark` outside of brackets; one that closes them counts as outside. */
function endOf(text: string, mark: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (OPENING.includes(character)) depth++;
    if (CLOSING.includes(character) && text[index - 1] !== '=') depth--;
    if (depth === 0 && character === mark) return index;
  }
  return text.length;
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/gu, '');
}

/** Writes a piece of code in one line, without what only matters to a compiler. */
function oneLine(code: string): string {
  return (
    code
      .replaceAll(/\s+/gu, ' ')
      .replaceAll(/ \| undefined(?=[;,})]|$)/gu, '')
      .replaceAll(/,(?= [)}])/gu, '')
      .replaceAll(/\( /gu, '(')
      .replaceAll(/,? \)/gu, ')')
      .replaceAll(/^ ?\| /gu, '')
      .replaceAll(/(?<=[{;] )readonly (?=\w+\??:)/gu, '')
      // Parameters as their callers see them: without defaults, and under a name where they are taken apart.
      .replaceAll(/(\w+|\{[^{}]*\}): (\w+) = \{\}/gu, '$1?: $2')
      .replaceAll(/(?<=[(,] ?)\{[^{}]*\}(?=\??: \w+[,)])/gu, 'options')
      .replaceAll(' = {}]', ']')
      .trim()
  );
}
