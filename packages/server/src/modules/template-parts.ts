/** A piece of a URI template: text, or an expression in braces. */
export type TemplatePart = string | TemplateExpression;

export interface TemplateExpression {
  /** One of `+ # . / ? &`; empty where there is none. */
  readonly operator: string;
  readonly variables: readonly TemplateVariable[];
  /** The expression with its braces, for errors. */
  readonly text: string;
}

export interface TemplateVariable {
  readonly name: string;
  /** True for a name with a star, whose value is a list. */
  readonly isList: boolean;
}

/** Splits a template into text and expressions; throws a TypeError that names the mistake in one that cannot be read. */
export function parseTemplate(template: string): TemplatePart[] {
  return [...template.matchAll(/\{([^{}]*)\}|[^{}]+|[{}]/g)].map(([text, inside]) =>
    inside === undefined ? literal(text) : expression(text, inside),
  );
}

function literal(text: string): string {
  if (text === '{') throw new TypeError('Unclosed template expression');
  if (text === '}') throw new TypeError('"}" without its "{"');
  return text;
}

function expression(text: string, inside: string): TemplateExpression {
  const [operator = ''] = /^[+#./?&]?/.exec(inside) ?? [];
  const variables = inside
    .slice(operator.length)
    .split(',')
    .map((spec) => variable(spec, text));
  return { operator, variables, text };
}

function variable(spec: string, text: string): TemplateVariable {
  const [, name, star] = /^([\w%-][\w.%-]*)(\*?)$/.exec(spec) ?? [];
  if (name !== undefined) return { name, isList: star === '*' };
  const fault = spec === '' ? 'has no name' : `has ${JSON.stringify(spec)} for a name`;
  throw new TypeError(`${text} ${fault}: names have letters, digits, "_", "-" and "."`);
}
