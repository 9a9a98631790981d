import { Migration } from '@mikro-orm/migrations';

/** Apps that act for people over MCP, and the records of the authorization server. */
export class ConnectedApps extends Migration {
  override up(): void {
    this.addSql(`
      -- One approval of one app. It ends with the membership that it rests on.
      create table connections (
        id text primary key,
        org_id text not null,
        user_id text not null,
        client_id text not null,
        client_name text not null,
        client_uri text,
        access text not null check (access in ('read_only', 'changes')),
        created_at timestamptz(3) not null,
        last_used_at timestamptz(3),
        foreign key (org_id, user_id) references memberships on delete cascade
      );
      create index connections_by_member on connections (org_id, user_id);
      create index connections_by_client on connections (client_id);

      -- Found by the hash of a token, a code or an id: none of them is kept in clear. What belongs to a connection
      -- ends with it.
      create table oauth_records (
        kind text not null,
        hash bytea not null,
        payload json not null,
        connection_id text references connections on delete cascade,
        expires_at timestamptz(3) not null,
        consumed_at timestamptz(3),
        primary key (kind, hash)
      );
      create index oauth_records_by_connection on oauth_records (connection_id);
      create index oauth_records_by_end on oauth_records (expires_at);
    `);
  }
}
