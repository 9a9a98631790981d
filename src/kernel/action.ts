import type { Static, TObject, TSchema } from 'typebox';

import type { Fault } from '#kernel/errors.ts';
import type { Permission } from '#kernel/permissions.ts';

/** `read` changes nothing, `write` can be undone, `delete` cannot: it feeds read-only grants, audit and MCP hints. */
export type Effect = 'read' | 'write' | 'delete';

/**
 * One declaration of one action. REST, MCP, OpenAPI, the reference, the permission tests and the audit log all
 * come from it, so nothing about an action is said twice.
 */
export interface Action<Context, Input extends TObject = TObject, Result extends TSchema = TSchema> {
  /** The operation's public name; the file bears it too. */
  readonly name: string;
  readonly summary: string;
  readonly permission: Permission;
  readonly effect: Effect;
  /** Closed objects: a property that is not listed is invalid input. */
  readonly input: Input;
  readonly result: Result;
  /**
   * Faults that the schema cannot tell, so that one answer names them beside those of the shape. The body may have any
   * shape; what is not of the right kind is the schema's to complain about.
   */
  readonly meaning?: (body: Readonly<Record<string, unknown>>) => readonly Fault[];
  /** When it is refused with `conflict`; absent: never. */
  readonly conflict?: string;
  handle(input: Static<Input>, context: Context): Promise<Static<Result>>;
}
