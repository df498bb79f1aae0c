/** Keys for the destination of exporters. */

/** Keys of exporters that send to a server, in configuration files too. */
export const DESTINATION_KEYS = [
  'graphite_host',
  'graphite_port',
  'pickle',
  'pickle_protocol',
  'prefix',
  'influx_server',
  'influx_db',
  'influx_user',
  'influx_pass',
  'influx_tags',
  'es_server',
  'es_auth',
  'es_password',
  'es_index',
  'es_hostid',
  'es_search_type',
  'otlp_encoding',
  'otlp_token_file',
  'zabbix_server',
  'zabbix_port',
  'zabbix_host',
  'zabbix_interval',
  'zabbix_prefix',
  'zabbix_lld',
] as const

/** One of these keys. */
export type DestinationKey = (typeof DESTINATION_KEYS)[number]
