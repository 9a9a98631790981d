/** Status pages, their services, publications and subscribers. */
export const statusPages = `
  create table status_pages (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    slug text not null unique default 'moved-' || substr(md5(random()::text), 1, 12),
    title text not null,
    about text,
    is_public boolean not null,
    version integer not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null
  );
  create index status_pages_by_org on status_pages (org_id);

  create table status_components (
    page_id text not null references status_pages on delete cascade,
    service_id text not null references services on delete cascade,
    org_id text not null references organizations on delete cascade,
    position integer not null,
    group_name text not null,
    name text not null,
    primary key (page_id, service_id)
  );
  create index status_components_by_service on status_components (service_id);
  create index status_components_by_org on status_components (org_id);

  create table status_publications (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    page_id text not null references status_pages on delete cascade,
    incident_id text references incidents on delete set null,
    title text not null,
    impact text not null check (impact in ('degraded', 'partial_outage', 'outage')),
    service_ids json not null,
    began_at timestamptz(3) not null,
    ended_at timestamptz(3),
    changed_at timestamptz(3) not null
  );
  create unique index status_publications_by_incident on status_publications (incident_id, page_id);
  create index status_publications_by_page on status_publications (page_id, began_at);
  create index status_publications_by_org on status_publications (org_id);
  create index status_publications_open on status_publications (id) where (ended_at is null);

  create table status_updates (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    publication_id text not null references status_publications on delete cascade,
    stage text not null check (stage in ('investigating', 'identified', 'monitoring', 'resolved')),
    body text not null,
    at timestamptz(3) not null
  );
  create index status_updates_by_publication on status_updates (publication_id, at);
  create index status_updates_by_org on status_updates (org_id);

  create table status_subscribers (
    id text primary key,
    org_id text not null references organizations on delete cascade,
    page_id text not null references status_pages on delete cascade,
    email text not null,
    asked_at timestamptz(3) not null,
    confirmed_at timestamptz(3),
    unique (page_id, email)
  );
  create index status_subscribers_by_email on status_subscribers (email);
  create index status_subscribers_by_org on status_subscribers (org_id);
`;
