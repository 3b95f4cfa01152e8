export interface JSONSchema {
  type: string;
  properties?: Record<string, unknown>;
  required?: string[];
  [key: string]: unknown;
}

/** A tool as servers list it, with whatever else its definition holds. */
export interface ToolSchema {
  name: string;
  description?: string;
  inputSchema: JSONSchema;
}
