/**
 * Query whose only row is the reason why a server takes no changes; no row if it takes them. It needs nothing of a
 * session.
 */
export const READ_ONLY_SQL = `select case when pg_is_in_recovery() then 'standby' else 'setting' end as value
  where pg_is_in_recovery() or current_setting('transaction_read_only') = 'on'`;

export function readOnlyText(state: string): string {
  return state === 'standby'
    ? 'is a standby, which takes no changes: promote it, or name the primary in DATABASE_URL'
    : 'is read-only (default_transaction_read_only): switch that off, or name the primary in DATABASE_URL';
}
