import type { Static, TObject, TSchema } from 'typebox';

import type { Fault } from '#kernel/errors.ts';
import type { Kind } from '#kernel/ids.ts';
import type { OperationPermission, Permission } from '#kernel/permissions.ts';

/** `read` changes nothing, `write` can be undone, `delete` cannot: it feeds read-only grants, audit and MCP hints. */
export type Effect = 'read' | 'write' | 'delete';

/** What a public action and an operation of the console have in common. */
interface Operation<Context, Input extends TObject, Result extends TSchema> {
  /** Unique among all operations; the file bears it too. */
  readonly name: string;
  readonly summary: string;
  readonly effect: Effect;
  /** Closed objects: a property that is not listed is invalid input. */
  readonly input: Input;
  readonly result: Result;
  /**
   * Faults that the schema cannot tell, so that one answer names them beside those of the shape. The body may have any
   * shape; what is not of the right kind is the schema's to complain about.
   */
  readonly meaning?: (body: Readonly<Record<string, unknown>>) => readonly Fault[];
  /** People in the console who have a second factor must have shown it within ten minutes. */
  readonly stepUp?: true;
  /** When it is refused with `conflict`; absent: never. */
  readonly conflict?: string;
  /** A body that is accepted, with ids of `actions/example_ids.ts`: for the reference and for the tests made of it. */
  readonly example: Static<Input>;
  handle(input: Static<Input>, context: Context): Promise<Static<Result>>;
}

/**
 * One declaration of one action of the contract. REST, MCP, OpenAPI, the reference, the permission tests and the audit
 * log all come from it, so nothing about an action is said twice.
 */
export interface Action<Context, Input extends TObject = TObject, Result extends TSchema = TSchema> extends Operation<
  Context,
  Input,
  Result
> {
  readonly consoleOnly?: never;
  readonly permission: Permission;
  /**
   * What a model needs beyond the summary: when to call it, what to call before or after it, and when to ask the person
   * it works for. Absent: the summary is enough.
   */
  readonly guidance?: string;
  /** What a model can do after `conflict`; absent: read the state and decide again. */
  readonly afterConflict?: string;
  /** The kinds of things whose ids callers take from its result. */
  readonly showsIds?: readonly Kind[];
  /**
   * The places of the result that hold text which senders of telemetry wrote, and so anybody who can make a service
   * fail in words of their choice. `groups[].title` is the title of every group.
   */
  readonly outsideText?: readonly string[];
  /** What answers the example. */
  readonly exampleResult: Static<Result>;
}

/**
 * An operation that only the console offers: the same pipeline, checks and audit as an action, but never part of REST,
 * MCP or the contract.
 */
export interface ConsoleOperation<
  Context,
  Input extends TObject = TObject,
  Result extends TSchema = TSchema,
> extends Operation<Context, Input, Result> {
  readonly consoleOnly: true;
  readonly permission: OperationPermission;
}
