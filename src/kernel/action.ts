import type { Static, TObject, TSchema } from 'typebox';

import type { ErrorCode, Fault } from '#kernel/errors.ts';
import type { Kind } from '#kernel/ids.ts';
import type { OperationPermission, Permission } from '#kernel/permissions.ts';

/** `read` changes nothing, `write` can be undone, `delete` cannot: it feeds read-only grants, audit and MCP hints. */
export type Effect = 'read' | 'write' | 'delete';

/** Something that has an id, with what people call it. */
export interface ListedThing {
  readonly id: string;
  /** The first is how answers name it. */
  readonly names: readonly string[];
  /** Ids of what it belongs to. */
  readonly links: readonly string[];
}

/** What public actions and operations of the console have in common. */
interface Operation<Context, Input extends TObject, Result extends TSchema, Name extends string, Prepared> {
  /** Unique among all operations; the file bears it too. */
  readonly name: Name;
  readonly summary: string;
  readonly effect: Effect;
  /** Closed objects: a property that is not listed is invalid input. */
  readonly input: Input;
  readonly result: Result;
  /**
   * Faults that the schema cannot express, so that one answer names them beside those of the shape. The body may have any
   * shape; what is not of the right kind is the schema's to complain about.
   */
  readonly meaning?: (body: Readonly<Record<string, unknown>>) => readonly Fault[];
  /** People in the console who have a second factor must have shown it within ten minutes. */
  readonly stepUp?: true;
  /** When it is refused with `conflict`; absent: never. */
  readonly conflict?: string;
  /** A body that is accepted, with ids of `actions/example_ids.ts`: for the reference and for the tests made of it. */
  readonly example: Static<Input>;
  /**
   * Runs before the transaction begins: what takes long, such as hashing a password, or has to remain when the rest is
   * refused, such as counting a wrong try.
   */
  prepare?(input: Static<Input>, context: Context): Promise<Prepared>;
  handle(input: Static<Input>, context: Context, prepared: Prepared): Promise<Static<Result>>;
}

/**
 * One declaration of one action of the contract. REST, MCP, OpenAPI, the reference, the permission tests and the audit
 * log all come from it, so nothing about an action is said twice.
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
   * What a model needs beyond the summary: when to call it, what to call before or after it, and when to ask the person
   * it works for. Absent: the summary is enough.
   */
  readonly guidance?: string;
  /** What a model can do after `conflict`; absent: read the state and decide again. */
  readonly afterConflict?: string;
  /** What its result shows when the input is empty, by kind: callers take ids from it, and names that they give are looked up in it. */
  readonly lists?: { readonly [Of in Kind]?: (result: Static<Result>) => readonly ListedThing[] };
  /**
   * The places of the result that hold text which senders of telemetry wrote, and so anybody who can make a service
   * fail in words of their choice. `groups[].title` is the title of every group.
   */
  readonly untrustedText?: readonly string[];
  /**
   * The result as a model is told it, of the same shape: the most urgent first, without what it hardly needs. Absent: as
   * it is. MCP makes a digest of it when the body is long.
   */
  readonly digest?: (result: Static<Result>) => object;
  /** Names by which callers ask for this action although it is not called so, such as `list_alerts`. */
  readonly alsoCalled?: readonly string[];
  /** What answers the example. */
  readonly exampleResult: Static<Result>;
}

/** What operations of the console have in common: they are never part of REST, MCP or the contract. */
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
  /** Set for a tool of the endpoint of responders: agents alone use it, and the console does not. */
  readonly isForResponders?: true;
  /** It keeps or gives back what an agent has, so a cap on changes must not be in its way. */
  readonly isBeyondCap?: true;
  /** The media types of the file that it answers with, a `FileAnswer`; it can be asked for with GET then. */
  readonly sends?: readonly string[];
}

/** A file, sent while it is being made. */
export interface FileAnswer {
  readonly name: string;
  readonly mediaType: string;
  readonly content: AsyncIterable<string>;
}

/** Where in the console an operation on an account is asked for, below `/api/console`. */
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
  /** `signed_in`: for signed-in people. `anyone`: no sign-in needed. */
  readonly scope: Scope;
  readonly permission?: never;
  /** The parameters of the path (`:name`) and the body together are the input. */
  readonly route: AccountRoute;
  /** 200 when left out. */
  readonly status?: 202;
}
