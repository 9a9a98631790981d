import { limit, optional } from '#kernel/limit_setting.ts';

/** Limits of long work, which is done in threads of its own while organizations take turns. */
export const LONG_WORK_LIMITS = {
  uploadMegabytes: limit(
    { variable: 'LIMIT_UPLOAD_MEGABYTES', fallback: 512, unit: 'MiB', minimum: 2, maximum: 10_000 },
    'one upload of source maps',
    '413',
  ),
  uploadsWaitingMegabytes: limit(
    { variable: 'LIMIT_UPLOADS_WAITING_MEGABYTES', fallback: 1_024, unit: 'MiB', minimum: 2, maximum: 100_000 },
    'uploads of an organization that wait to be read',
    '429',
  ),
  sourceMapMegabytes: optional(
    { variable: 'SOURCE_MAP_MEGABYTES', fallback: 2_048, unit: 'MB' },
    'source maps that an organization has stored, compressed; 0 for no limit',
    'those that were used longest ago are deleted',
  ),
  uploadUnpackedMegabytes: limit(
    { variable: 'LIMIT_UPLOAD_UNPACKED_MEGABYTES', fallback: 4_096, unit: 'MiB', minimum: 2, maximum: 1_000_000 },
    'source maps and code of one upload, unpacked',
    'its other files are left out, which the upload says',
  ),
  uploadSeconds: limit(
    { variable: 'LIMIT_UPLOAD_SECONDS', fallback: 120, unit: 's', maximum: 3_600 },
    'working time to read one upload',
    'its other files are left out, which the upload says',
  ),
  sourceMapSeconds: limit(
    { variable: 'LIMIT_SOURCE_MAP_SECONDS', fallback: 5, unit: 's', maximum: 60 },
    'working time to read source maps for the events of an organization, a minute',
    'events are grouped as they were sent, and mapped when somebody reads them',
  ),
  patternSeconds: limit(
    { variable: 'LIMIT_PATTERN_SECONDS', fallback: 5, unit: 's', maximum: 60 },
    'working time to check the patterns of selectors that an organization sends, a minute',
    '429',
  ),
  refusedMegabytesPerMinute: limit(
    { variable: 'LIMIT_REFUSED_MEGABYTES', fallback: 600, unit: 'MiB' },
    'unpacked bytes of bodies that one address sent for a service and that were refused or brought nothing, a minute (all addresses of a service: five times that); the first MiB of each counts as nothing',
    '429 to bodies that unpack to more than 1 MiB',
  ),
};
