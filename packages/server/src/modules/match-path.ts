import type { TemplateExpression, TemplatePart, TemplateVariable } from './template-parts.ts';

/** A variable of a template and its text in a URI, not yet decoded. */
export interface FoundVariable extends TemplateVariable {
  readonly value: string;
}

/** Compiles the parts of a template into a function that finds the variables of a URI; undefined where the URI does not fit. */
export function compilePath(
  parts: readonly TemplatePart[],
): (uri: string) => readonly FoundVariable[] | undefined {
  const steps = parts.flatMap((part): Step[] => (typeof part === 'string' ? [part] : stepsOf(part)));
  const [start] = steps;
  return (uri) => {
    // Most URIs of other templates are told apart here.
    if (typeof start === 'string' && !uri.startsWith(start)) return undefined;
    const ends = endsOfSteps(steps, uri);
    return ends === undefined ? undefined : valuesOf(steps, uri, ends);
  };
}

/** Text that a URI has as it is, or a variable, which takes one character or more. */
type Step = string | VariableStep;

interface VariableStep extends TemplateVariable {
  /** Characters that the value has not. */
  readonly stops: string;
  /** True where single commas may stand between other characters of the value. */
  readonly hasCommas: boolean;
}

const SEGMENT = '/,';
const LINES = '\n\r\u2028\u2029';

function stepsOf({ operator, variables, text }: TemplateExpression): Step[] {
  const [variable] = variables;
  if (variable === undefined || variables.length > 1) {
    throw new TypeError(`${text} has several names: give each its own braces`);
  }
  const { name, isList } = variable;
  const step = (stops: string, hasCommas = false): VariableStep => ({ name, isList, stops, hasCommas });
  switch (operator) {
    case '+':
    case '#':
      return [step(LINES)];
    case '.':
      return ['.', step(SEGMENT)];
    case '/':
      return ['/', step(SEGMENT, isList)];
    case '':
      return [step(SEGMENT, isList)];
    default:
      return [`${operator}${name}=`, step('&')];
  }
}

/** Ends of one step by the position where it starts; 0 where the step, or one behind it, does not fit. */
type Ends = Uint16Array;

/**
 * Finds the ends of all steps, from the last step to the first: each looks up what fits behind it. So the time is the
 * number of steps times the length of the URI, where a regular expression may try every division of the URI.
 * Each variable takes as much as it can, the first one first, as in a regular expression.
 */
function endsOfSteps(steps: readonly Step[], uri: string): readonly Ends[] | undefined {
  let after: Ends = new Uint16Array(uri.length + 2);
  after[uri.length] = 1;
  const ends = steps.toReversed().map((step) => {
    after = typeof step === 'string' ? endsOfText(step, uri, after) : endsOfVariable(step, uri, after);
    return after;
  });
  return after[0] === 0 ? undefined : ends.toReversed();
}

function endsOfText(text: string, uri: string, after: Ends): Ends {
  const ends = new Uint16Array(uri.length + 2);
  for (let at = uri.length - text.length; at >= 0; at -= 1) {
    const end = at + text.length;
    if (after[end] !== 0 && uri.startsWith(text, at)) ends[at] = end;
  }
  return ends;
}

function endsOfVariable({ stops, hasCommas }: VariableStep, uri: string, after: Ends): Ends {
  const ends = new Uint16Array(uri.length + 2);
  for (let at = uri.length - 1; at >= 0; at -= 1) {
    if (stops.includes(uri.charAt(at))) continue;
    const next = hasCommas && uri[at + 1] === ',' ? at + 2 : at + 1;
    // A value that goes on ends where the value from its next character would.
    const further = ends[next] ?? 0;
    if (further !== 0) ends[at] = further;
    else if (after[at + 1] !== 0) ends[at] = at + 1;
  }
  return ends;
}

function valuesOf(steps: readonly Step[], uri: string, ends: readonly Ends[]): FoundVariable[] {
  const found: FoundVariable[] = [];
  let at = 0;
  steps.forEach((step, index) => {
    const end = ends[index]?.[at] ?? at;
    if (typeof step !== 'string') {
      found.push({ name: step.name, isList: step.isList, value: uri.slice(at, end) });
    }
    at = end;
  });
  return found;
}
