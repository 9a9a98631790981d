# A shop as users write it, which has only its DSN from us; STORY says what happens in it.
require 'sentry-ruby'

Sentry.init do |config|
  config.dsn = ENV['SENTRY_DSN']
  config.environment = 'staging'
  config.release = 'shop@1.4.2'
  config.background_worker_threads = 0
  config.breadcrumbs_logger = []
end
Sentry.set_tags(region: 'eu')
Sentry.set_user(id: '42', email: 'bob@shop.test')
Sentry.add_breadcrumb(
  Sentry::Breadcrumb.new(category: 'till', message: 'order opened', data: { password: 'hunter2' })
)

class OutOfBeans < StandardError; end

def take_order(beans)
  raise ArgumentError, "cannot take an order of #{beans} beans" if beans > 5
end

def charge_order(beans)
  take_order(beans)
rescue ArgumentError
  raise OutOfBeans, "order of #{beans} beans was not charged"
end

$sent = 0

def capture(error, **options)
  Sentry.capture_exception(error, **options)
  $sent += 1
end

def report
  [10, 20].each do |beans|
    charge_order(beans)
  rescue OutOfBeans => e
    capture(e)
  end
  Sentry.capture_message('the grinder is slow', level: :warning)
  $sent += 1
  %w[sour bitter].each { |flavour| capture(StandardError.new("the beans are #{flavour}"), fingerprint: ['beans']) }
  capture(KeyError.new('key not found: :sugar'), extra: { size: 17, list: [nil, true, 1.5] })
  capture(StandardError.new("a long story #{'x' * 20_000}"))
  capture(StandardError.new("teapot \u{1fad6} and a \0 in it"))
  begin
    raise 'the machine is on fire'
  rescue => e
    capture(e, level: :fatal)
  end
end

def insist
  10.times { capture(StandardError.new('again')) }
end

ENV['STORY'] == 'insist' ? insist : report
puts "sent #{$sent}"
