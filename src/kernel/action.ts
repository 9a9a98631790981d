import { type Static, type TObject, type TObjectOptions, type TProperties, type TSchema, Type } from 'typebox';

import type { ErrorCode, Fault } from '#kernel/errors.ts';
import type { Kind } from '#kernel/ids.ts';
import type { OperationPermission, Permission } from '#kernel/permissions.ts';

/** Schema of a closed object: a property that is not listed is invalid input. */
export function StrictObject<Properties extends TProperties>(properties: Properties, options: TObjectOptions = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/**
 * Effect of an action: `read` changes nothing, `write` can be undone, `delete` cannot. It feeds read-only grants, audit
 * and MCP hints.
 */
export type Effect = 'read' | 'write' | 'delete';

/** An object that has an id, with the names that people use for it. */
export interface ListedThing {
  readonly id: string;
  /** Names of the object; answers use the first. */
  readonly names: readonly string[];
  /** Ids of the objects to which it belongs. */
  readonly links: readonly string[];
}

/** Common part of public actions and operations of the console. */
interface Operation<Context, Input extends TObject, Result extends TSchema, Name extends string, Prepared> {
  /** Name that is unique among all operations; the file bears it too. */
  readonly name: Name;
  readonly summary: string;
  readonly effect: Effect;
  /** Schema of the input; objects are closed: a property that is not listed is invalid input. */
  readonly input: Input;
  readonly result: Result;
  /**
   * Returns faults that the schema cannot express, so that one answer names them besides those of the shape. The body
   * may have any shape; values of the wrong kind are left to the schema.
   */
  readonly validate?: (body: Readonly<Record<string, unknown>>) => readonly Fault[];
  /** Set if people in the console who have a second factor must have shown it within ten minutes. */
  readonly stepUp?: true;
  /** Condition under which it is refused with `conflict`; absent: never. */
  readonly conflict?: string;
  /** Body that is accepted, with ids of `actions/fields.ts`: for the reference and for the tests made of it. */
  readonly example: Static<Input>;
  /**
   * Prepares the operation before the transaction begins: for what takes long, such as hashing a password, or has to
   * remain when the rest is refused, such as counting a wrong try.
   */
  prepare?(input: Static<Input>, context: Context): Promise<Prepared>;
  handle(input: Static<Input>, context: Context, prepared: Prepared): Promise<Static<Result>>;
}

/**
 * Declaration of one action of the contract. REST, MCP, OpenAPI, the reference, the permission tests and the audit log
 * all come from it, so nothing about an action is said twice.
 */
export interface Action<
  Context,
  Input extends TObject = TObject,
  Result extends TSchema = TSchema,
  Name extends string = string,
  Prepared = unknown,
> extends Operation<Context, Input, Result, Name, Prepared> {
  readonly consoleOnly?: never;
  readonly permission: Permission;
  /**
   * Guidance for a model beyond the summary: when to call it, what to call before or after it, and when to ask the
   * person it works for. Absent: the summary is enough.
   */
  readonly guidance?: string;
  /** Hint for a model after `conflict`; absent: read the state and decide again. */
  readonly conflictHint?: string;
  /** Objects in its result for an empty input, by kind: callers take ids from it, and names are looked up in it. */
  readonly lists?: { readonly [Of in Kind]?: (result: Static<Result>) => readonly ListedThing[] };
  /**
   * Places of the result that hold text which senders of telemetry wrote, and so anybody who can make a service fail in
   * words of their choice. `groups[].title` is the title of every group.
   */
  readonly untrustedText?: readonly string[];
  /**
   * Returns the result as a model gets it, of the same shape: the most urgent first, without what it hardly needs.
   * Absent: as it is. MCP makes a digest of it when the body is long.
   */
  readonly digest?: (result: Static<Result>) => object;
  /** Other names by which callers ask for this action, such as `list_alerts`. */
  readonly aliases?: readonly string[];
  readonly exampleResult: Static<Result>;
}

/** Common part of operations of the console: they are never part of REST, MCP or the contract. */
interface OperationOfConsole<
  Context,
  Input extends TObject,
  Result extends TSchema,
  Name extends string,
  Prepared,
> extends Operation<Context, Input, Result, Name, Prepared> {
  readonly consoleOnly: true;
  /** Refusals beyond those that every operation of its kind has, for OpenAPI. */
  readonly refusals?: readonly Extract<ErrorCode, 'unauthenticated' | 'forbidden' | 'not_found' | 'rate_limited'>[];
}

/** An operation within an organization that only the console offers: same checks and audit as an action. */
export interface ConsoleOperation<
  Context,
  Input extends TObject = TObject,
  Result extends TSchema = TSchema,
  Name extends string = string,
  Prepared = unknown,
> extends OperationOfConsole<Context, Input, Result, Name, Prepared> {
  readonly scope?: never;
  readonly permission: OperationPermission;
  /** Set for a tool of the endpoint of responders: only agents use it, and the console does not. */
  readonly isForResponders?: true;
  /** Set for an operation that keeps or gives back what an agent has, so a cap on changes must not block it. */
  readonly isExemptFromCap?: true;
  /** Media types of the file that it answers with, a `FileAnswer`; it can then be asked for with GET. */
  readonly sends?: readonly string[];
}

/** A file, sent while it is being made. */
export interface FileAnswer {
  readonly name: string;
  readonly mediaType: string;
  readonly content: AsyncIterable<string | Uint8Array>;
}

/** Route of an operation on an account in the console, below `/api/console`. */
export type AccountRoute = `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`;

/**
 * An operation on somebody's own account, which belongs to no organization. Its audit rows go to every organization the
 * person is a member of.
 */
export interface AccountOperation<
  Context,
  Scope extends 'signed_in' | 'anyone' = 'signed_in' | 'anyone',
  Input extends TObject = TObject,
  Result extends TSchema = TSchema,
  Name extends string = string,
  Prepared = unknown,
> extends OperationOfConsole<Context, Input, Result, Name, Prepared> {
  /** Required sign-in. `signed_in`: for signed-in people. `anyone`: no sign-in needed. */
  readonly scope: Scope;
  readonly permission?: never;
  /** Route of the operation. The parameters of the path (`:name`) and the body together are the input. */
  readonly route: AccountRoute;
  /** Status of the answer; 200 when left out. */
  readonly status?: 202;
  /**
   * Set if it changes what counts in every organization of the person: refused in a session that the provider of one
   * organization began while another one knows the account.
   */
  readonly countsEverywhere?: true;
}
