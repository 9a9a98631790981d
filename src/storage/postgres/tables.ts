import type { InferKyselyDB } from '@mikro-orm/postgresql';
import type { ColumnType } from 'kysely';

import type { Temporal } from '#kernel/time.ts';
import * as alerts from '#storage/postgres/entities/alerts.ts';
import * as audit from '#storage/postgres/entities/audit.ts';
import * as configuration from '#storage/postgres/entities/configuration.ts';
import * as credentials from '#storage/postgres/entities/credentials.ts';
import * as exceptions from '#storage/postgres/entities/exceptions.ts';
import * as incidents from '#storage/postgres/entities/incidents.ts';
import * as jobs from '#storage/postgres/entities/jobs.ts';
import * as messages from '#storage/postgres/entities/messages.ts';
import * as monitors from '#storage/postgres/entities/monitors.ts';
import * as movingIn from '#storage/postgres/entities/moving_in.ts';
import * as oncall from '#storage/postgres/entities/oncall.ts';
import * as people from '#storage/postgres/entities/people.ts';
import * as places from '#storage/postgres/entities/places.ts';
import * as releases from '#storage/postgres/entities/releases.ts';
import * as responders from '#storage/postgres/entities/responders.ts';
import * as sent from '#storage/postgres/entities/sent.ts';
import * as services from '#storage/postgres/entities/services.ts';
import * as signIn from '#storage/postgres/entities/sign_in.ts';
import * as statusPages from '#storage/postgres/entities/status_pages.ts';

/** Every table: the only declaration of its columns. */
export const ENTITIES = [
  ...Object.values(alerts),
  ...Object.values(audit),
  ...Object.values(configuration),
  ...Object.values(credentials),
  ...Object.values(exceptions),
  ...Object.values(incidents),
  ...Object.values(jobs),
  ...Object.values(messages),
  ...Object.values(monitors),
  ...Object.values(movingIn),
  ...Object.values(oncall),
  ...Object.values(people),
  ...Object.values(places),
  ...Object.values(releases),
  ...Object.values(responders),
  ...Object.values(sent),
  ...Object.values(services),
  ...Object.values(signIn),
  ...Object.values(statusPages),
];

type Inferred = InferKyselyDB<(typeof ENTITIES)[number]>;

/** The tables by name with their columns, as queries see them. */
export type Tables = { [T in keyof Inferred]: { [C in keyof Inferred[T]]: Column<Inferred[T][C]> } };

declare const written: unique symbol;

/** The text of a value for a `json` column. The driver would write an array as an array of PostgreSQL. */
export type Json<T> = string & { readonly [written]: T };

type Plain = string | number | boolean | null | undefined | Buffer | Uint8Array | Temporal.Instant;

/** A column as queries read and write it: what is neither plain nor a list of texts is JSON. */
type Column<C> = [C] extends [ColumnType<infer Selected, infer Inserted, infer Updated>]
  ? ColumnType<Selected, Written<Inserted>, Written<Updated>>
  : ColumnType<C, Written<C>, Written<C>>;

/** A list of texts may be JSON or `text[]`. */
export type Written<T> = [T] extends [Plain]
  ? T
  : [T] extends [readonly string[] | null | undefined]
    ? T | Json<Exclude<T, null | undefined>>
    : Json<Exclude<T, null | undefined>> | Extract<T, null | undefined>;
