import { addPerson } from '#modules/configuration/operations/add_person.ts';
import { keepSentryDsn } from '#modules/configuration/operations/keep_sentry_dsn.ts';
import { listConfigurationFiles, listManaged, setManagedChanges } from '#modules/configuration/operations/managed.ts';
import { recordKeys } from '#modules/configuration/operations/record_keys.ts';

/** Operations of configuration files and of what they manage. */
export const CONFIGURATION_OPERATIONS = [
  addPerson,
  keepSentryDsn,
  recordKeys,

  listManaged,
  listConfigurationFiles,
  setManagedChanges,
] as const;
