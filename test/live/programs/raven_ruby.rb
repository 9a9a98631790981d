# A shop as users wrote it in 2018, which has only its DSN from us; STORY says what happens in it.
require 'raven'

Raven.configure do |config|
  config.dsn = ENV['SENTRY_DSN']
  config.current_environment = 'staging'
  config.release = 'shop@1.4.2'
  config.silence_ready = true
end
Raven.tags_context(region: 'eu')
Raven.user_context(id: '42', email: 'bob@shop.test')
Raven.breadcrumbs.record do |crumb|
  crumb.category = 'till'
  crumb.message = 'order opened'
  crumb.data = { password: 'hunter2' }
end

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

def capture(thrown, **options)
  Raven.capture_type(thrown, options)
  $sent += 1
end

def report
  [10, 20].each do |beans|
    charge_order(beans)
  rescue OutOfBeans => e
    capture(e)
  end
  capture('the grinder is slow', level: 'warning')
  %w[sour bitter].each { |flavour| capture(StandardError.new("the beans are #{flavour}"), fingerprint: ['beans']) }
  capture(KeyError.new('key not found: :sugar'), extra: { size: 17, list: [nil, true, 1.5] })
  capture(StandardError.new("a long story #{'x' * 20_000}"))
  capture(StandardError.new("teapot \u{1fad6} and a \0 in it"))
  begin
    raise 'the machine is on fire'
  rescue => e
    capture(e, level: 'fatal')
  end
end

def insist
  10.times { capture(StandardError.new('again')) }
end

ENV['STORY'] == 'insist' ? insist : report
puts "sent #{$sent}"
