/** Agents that respond to incidents, and what they propose. */
export const agents = `
  create table agent_settings (
    org_id text primary key references organizations on delete cascade,
    are_stopped boolean not null default false,
    writes_an_hour integer check ((writes_an_hour >= 1) and (writes_an_hour <= 1000)),
    hold_minutes integer not null default 0 check ((hold_minutes >= 0) and (hold_minutes <= 10))
  );

  create table responders (
    agent_id text primary key,
    org_id text not null references organizations on delete cascade,
    connection_id text references connections on delete cascade,
    api_key_id text references api_keys on delete cascade,
    enabled_by text not null,
    enabled_at timestamptz(3) not null,
    constraint responders_check check ((num_nonnulls(connection_id, api_key_id) = 1))
  );
  create index responders_by_connection on responders (connection_id) where (connection_id is not null);
  create index responders_by_api_key on responders (api_key_id) where (api_key_id is not null);

  create table agent_writes (
    agent_id text not null,
    at timestamptz(3) not null
  );
  create index agent_writes_by_agent on agent_writes (agent_id, at);

  create table incident_leases (
    incident_id text primary key references incidents on delete cascade,
    org_id text not null,
    agent_id text not null,
    agent_name text not null,
    taken_at timestamptz(3) not null,
    renewed_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    released_at timestamptz(3)
  );
  create index incident_leases_held on incident_leases (org_id, expires_at) where (released_at is null);

  create table proposals (
    id text primary key,
    org_id text not null,
    incident_id text not null references incidents on delete cascade,
    number bigint not null,
    kind text not null check (kind in ('action', 'question')),
    agent_id text not null,
    agent_name text not null,
    action text,
    input json,
    sentence text not null,
    evidence json not null,
    status text not null default 'proposed' check (status in ('proposed', 'approved', 'rejected', 'carried_out')),
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    decided_at timestamptz(3),
    decided_by json,
    answer text,
    unique (org_id, number),
    constraint proposals_check check (((kind = 'action') = ((action is not null) and (input is not null))))
  );
  create index proposals_by_number on proposals (number);
  create index proposals_by_incident on proposals (incident_id, number);

  create table reply_numbers (
    phone text not null,
    kind text not null check (kind in ('incident', 'proposal')),
    number bigint not null,
    incident_id text not null references incidents on delete cascade,
    proposal_id text references proposals on delete cascade,
    primary key (phone, kind, number),
    constraint reply_numbers_check check (((kind = 'proposal') = (proposal_id is not null)))
  );
  create unique index reply_numbers_by_incident on reply_numbers (incident_id, phone, coalesce(proposal_id, ''));
  create index reply_numbers_by_proposal on reply_numbers (proposal_id) where (proposal_id is not null);
`;
