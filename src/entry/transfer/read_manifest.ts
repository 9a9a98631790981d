import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { EXPORT_FORMAT, type ExportManifest, MANIFEST_FILE } from '#entry/transfer/organization_tables.ts';
import { migrationNames } from '#entry/migrate.ts';
import { AppError } from '#kernel/errors.ts';
import { findFaults } from '#kernel/input_faults.ts';
import { faultText } from '#entry/transfer/json_lines.ts';

const TEXT = { type: 'string', maxLength: 1_000 };

const SHAPE = {
  type: 'object',
  properties: {
    tocsinExport: { type: 'integer' },
    version: TEXT,
    exportedAt: TEXT,
    organizationId: TEXT,
    organizationName: TEXT,
    postgresMigrations: { type: 'array', items: TEXT },
    files: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
  },
  required: [
    'tocsinExport',
    'version',
    'exportedAt',
    'organizationId',
    'organizationName',
    'postgresMigrations',
    'files',
  ],
};

/** Reads the manifest of an export. Throws if the folder is not an export, or if a later release wrote it. */
export function readManifest(folder: string): ExportManifest {
  const file = path.join(folder, MANIFEST_FILE);
  if (!existsSync(file)) {
    throw new AppError('not_found', `${folder} has no ${MANIFEST_FILE}: it is no export, or one that did not end`);
  }
  const manifest = parse(readFileSync(file, 'utf8'));
  const unknown = manifest.postgresMigrations.find((name) => !migrationNames('postgres').has(name));
  if (manifest.tocsinExport !== EXPORT_FORMAT || unknown !== undefined) {
    throw new AppError(
      'invalid_input',
      `this export was made by another release (${manifest.version}): use a newer one`,
    );
  }
  const missing = Object.keys(manifest.files).find((name) => !existsSync(path.join(folder, path.basename(name))));
  if (missing !== undefined) throw new AppError('invalid_input', `the file ${missing} of the export is missing`);
  return manifest;
}

function parse(text: string): ExportManifest {
  let manifest: unknown = null;
  try {
    manifest = JSON.parse(text);
  } catch {
    // The error follows below.
  }
  const faults = findFaults(SHAPE, manifest);
  if (faults.length === 0) return manifest as ExportManifest;
  throw new AppError('invalid_input', `${MANIFEST_FILE} is not as an export writes it: ${faultText(faults)}`);
}
