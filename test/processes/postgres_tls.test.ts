import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { loadConfig } from '#entry/config.ts';
import { openDatabase } from '#storage/postgres/database.ts';
import { APP_SECRET, expectTrustOnlyIn } from '#test/entry/trusted_authorities.ts';
import { type Certificates, makeCertificates } from '#test/kit/programs/certificates.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';
import { hasDebianPostgres, startTlsPostgres } from '#test/kit/programs/debian_postgres.ts';

describe.skipIf(!canRunWith('postgresql', hasDebianPostgres))('PostgreSQL', () => {
  let certificates: Certificates;
  beforeAll(() => {
    certificates = makeCertificates();
  });
  afterAll(() => certificates.remove());

  test('is reached over TLS with an authority of its own, and with no other', async () => {
    const url = await startTlsPostgres(certificates.certFile, certificates.keyFile);
    await expectTrustOnlyIn(certificates, { store: 'PostgreSQL', prefix: 'DATABASE', url });
    const config = loadConfig({ DATABASE_URL: url, APP_SECRET, DATABASE_CA_FILE: certificates.caFile });
    const db = await openDatabase({ url: config.databaseUrl!, poolMax: 1 });
    onTestFinished(() => db.close());
    const used = await db.sql.row('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    expect(used).toEqual({ ssl: true });
  });
});
