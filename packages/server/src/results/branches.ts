import * as z from 'zod';

export type ErrorBranchSchema = z.ZodObject<{
  type: z.ZodLiteral<'error'>;
  message: z.ZodString;
  code: z.ZodOptional<z.ZodString>;
}>;

export type AuthRequiredSchema = z.ZodObject<{
  type: z.ZodLiteral<'auth_required'>;
  authUrl: z.ZodString;
  message: z.ZodString;
}>;

/** A schema of results that succeeded: an object, or a union of objects, with `type: 'success'`. */
type SuccessSchema = z.core.$ZodTypeDiscriminable & z.ZodType<{ type: 'success' }>;

/** Builds the schema of a result that failed. */
export function errorBranch(): ErrorBranchSchema {
  return z.object({ type: z.literal('error'), message: z.string(), code: z.string().optional() });
}

/** Builds the schema of a result that asks for a login. */
export function authRequired(): AuthRequiredSchema {
  return z.object({ type: z.literal('auth_required'), authUrl: z.string(), message: z.string() });
}

/** Builds the output schema of a tool that succeeds, fails or asks for a login: a union on `type`. */
export function resultOf<Success extends SuccessSchema>(
  success: Success,
): z.ZodDiscriminatedUnion<[Success, ErrorBranchSchema, AuthRequiredSchema], 'type'> {
  const options: [Success, ErrorBranchSchema, AuthRequiredSchema] = [success, errorBranch(), authRequired()];
  // A union has no type of its own in JSON Schema, and clients of 2025-11-25 accept objects only.
  return z.discriminatedUnion('type', options).meta({ type: 'object' });
}
