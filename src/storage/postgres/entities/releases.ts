import { p } from '@mikro-orm/postgresql';

import type { Commit } from '#modules/releases/decide/release.ts';
import type { Id } from '#kernel/ids.ts';
import { bigint, bytes, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

export const ReleaseEntity = table('releases', {
  serviceId: id<'service'>().primary(),
  version: p.text().primary(),
  orgId: id<'org'>(),
  url: p.text().strictNullable(),
  ref: p.text().strictNullable(),
  /** The newest first, and no more than are shown. */
  commits: jsonColumn<readonly Commit[]>(),
  commitCount: p.integer().default(0),
  releasedAt: instant().strictNullable(),
  archivedAt: instant().strictNullable(),
  createdAt: instant(),
  updatedAt: instant(),
});

export const DeployEntity = table('deploys', {
  id: id<'deploy'>().primary(),
  orgId: id<'org'>(),
  serviceId: id<'service'>(),
  release: p.text(),
  environment: p.text(),
  name: p.text().strictNullable(),
  url: p.text().strictNullable(),
  startedAt: instant().strictNullable(),
  finishedAt: instant(),
  createdAt: instant(),
});

/** A part of a file on its way, until the whole has been read. */
export const UploadChunkEntity = table('upload_chunks', {
  orgId: id<'org'>().primary(),
  sha1: p.text().primary(),
  size: p.integer(),
  content: bytes(),
  createdAt: instant(),
});

export type BundleState = 'waiting' | 'stored' | 'refused';

/** Files that a build uploaded at once. */
export const ArtifactBundleEntity = table('artifact_bundles', {
  id: id<'bundle'>().primary(),
  orgId: id<'org'>(),
  /** Equal when the same bytes are uploaded again for the same services and release. */
  key: p.text(),
  checksum: p.text(),
  /** The checksums of its parts, in order; empty once it has been read. */
  chunks: jsonColumn<readonly string[]>(),
  serviceIds: jsonColumn<readonly Id<'service'>[]>(),
  release: p.text().strictNullable(),
  dist: p.text().strictNullable(),
  state: text<BundleState>(),
  /** Reason why it was refused, or what of it was left out. */
  detail: p.text().strictNullable(),
  maps: p.integer().default(0),
  bytes: bigint().default(0),
  createdAt: instant(),
  /** Time of the last upload, or of the last event that was mapped by it. */
  usedAt: instant(),
});

export const SourceMapEntity = table('source_maps', {
  orgId: id<'org'>().primary(),
  hash: p.text().primary(),
  size: bigint(),
  storedBytes: bigint(),
  /** Compressed. */
  content: bytes(),
  createdAt: instant(),
});

/** The code that a source map describes: by the id in the code, or by its release and address. */
export const SourceMapPlaceEntity = table('source_map_places', {
  id: bigint().primary().autoincrement(),
  orgId: id<'org'>(),
  bundleId: id<'bundle'>(),
  serviceId: id<'service'>().strictNullable(),
  debugId: p.text().strictNullable(),
  release: p.text().strictNullable(),
  dist: p.text().strictNullable(),
  url: p.text().strictNullable(),
  hash: p.text(),
});
