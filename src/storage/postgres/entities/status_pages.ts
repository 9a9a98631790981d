import { p } from '@mikro-orm/postgresql';

import type { Impact, Stage } from '#modules/status_pages/decide/publication.ts';
import { id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

export const StatusPageEntity = table('status_pages', {
  id: id<'statuspage'>().primary(),
  orgId: id<'org'>(),
  /** Last part of its address; unique in the installation. */
  slug: p.text(),
  title: p.text(),
  about: p.text().strictNullable(),
  /** Whether everybody may read it; otherwise only members who are signed in. */
  isPublic: p.boolean(),
  version: p.integer(),
  createdAt: instant(),
  updatedAt: instant(),
});

/** A service on a status page, with its public name. */
export const StatusComponentEntity = table('status_components', {
  pageId: id<'statuspage'>().primary(),
  serviceId: id<'service'>().primary(),
  orgId: id<'org'>(),
  position: p.integer(),
  /** Heading above it; empty for none. */
  groupName: p.text(),
  name: p.text(),
});

/** An incident as people published it on a status page. */
export const StatusPublicationEntity = table('status_publications', {
  id: id<'publication'>().primary(),
  orgId: id<'org'>(),
  pageId: id<'statuspage'>(),
  /** Null once the incident is gone. */
  incidentId: id<'incident'>().strictNullable(),
  title: p.text(),
  impact: text<Impact>(),
  serviceIds: jsonColumn<readonly string[]>(),
  beganAt: instant(),
  endedAt: instant().strictNullable(),
  changedAt: instant(),
});

/** A mail address that is told of updates, once its owner has confirmed it. */
export const StatusSubscriberEntity = table('status_subscribers', {
  id: id<'statussubscriber'>().primary(),
  orgId: id<'org'>(),
  pageId: id<'statuspage'>(),
  /** Address in lower case. */
  email: p.text(),
  /** Time at which somebody last asked for updates. */
  askedAt: instant(),
  confirmedAt: instant().strictNullable(),
});

export const StatusUpdateEntity = table('status_updates', {
  id: id<'statusupdate'>().primary(),
  orgId: id<'org'>(),
  publicationId: id<'publication'>(),
  stage: text<Stage>(),
  body: p.text(),
  at: instant(),
});
