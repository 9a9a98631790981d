/** Moves from other tools, and people who are asked to confirm their numbers. */
export const moveIns = `
  create table move_ins (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    tool text not null,
    status text not null
      check (status in ('collecting', 'reading', 'failed', 'read', 'applying', 'applied')),
    progress text not null,
    fault text,
    proof_from timestamptz(3),
    file text,
    markdown text,
    summary json,
    plan json,
    applied integer not null,
    created_by text,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  );
  create index move_ins_by_org on move_ins (org_id, id);

  create table move_in_items (
    move_in_id text not null references move_ins on delete cascade,
    position integer not null,
    kind text not null,
    item_id text not null,
    name text not null,
    verdict text not null,
    reason text not null,
    todo text not null,
    primary key (move_in_id, position)
  );
  create index move_in_items_by_verdict on move_in_items (move_in_id, verdict, position);

  create table move_in_answers (
    move_in_id text not null references move_ins on delete cascade,
    name text not null,
    part integer not null,
    is_upload boolean not null,
    content text not null,
    next text,
    primary key (move_in_id, name, part)
  );

  create table number_campaigns (
    org_id text primary key references organizations on delete cascade,
    since timestamptz(3) not null,
    started_by text
  );

  create table number_asks (
    org_id text not null references number_campaigns on delete cascade,
    user_id text not null references users on delete cascade,
    times integer not null,
    asked_at timestamptz(3) not null,
    primary key (org_id, user_id)
  );
`;
