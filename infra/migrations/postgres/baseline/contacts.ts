/** Addresses at which people are reached, and their answers. */
export const contacts = `
  create table push_subscriptions (
    id text primary key,
    user_id text not null references users on delete cascade,
    endpoint text not null unique,
    p256dh text not null,
    auth text not null,
    label text not null,
    created_at timestamptz(3) not null
  );
  create index push_subscriptions_by_user on push_subscriptions (user_id, created_at);

  create table confirmed_numbers (
    user_id text not null references users on delete cascade,
    phone text not null,
    confirmed_at timestamptz(3) not null,
    code_provider_id text,
    primary key (user_id, phone)
  );
  create index confirmed_numbers_by_phone on confirmed_numbers (phone);

  create table phone_codes (
    notification_id text primary key references notifications on delete cascade,
    user_id text not null references users on delete cascade,
    phone text not null,
    code text not null,
    wrong_tries integer not null default 0,
    expires_at timestamptz(3) not null
  );
  create index phone_codes_by_user on phone_codes (user_id, expires_at);

  create table reply_pins (
    user_id text primary key references users on delete cascade,
    pin_hash text not null
  );

  create table inbound_messages (
    provider_id text primary key,
    answer text,
    received_at timestamptz(3) not null
  );

  create table sms_opt_outs (
    phone text primary key,
    since timestamptz(3) not null
  );
`;
