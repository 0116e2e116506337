#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "io/stream_impl.h"

namespace fairlead::io {

class TlsContext {
 public:
  TlsContext(asio::ssl::context::method method, bool check) : context(method), verify(check) {}
  asio::ssl::context context;
  bool verify;
};

namespace {

namespace ssl = asio::ssl;

class TlsStream final : public StreamOf<boost::beast::ssl_stream<boost::beast::tcp_stream>> {
 public:
  TlsStream(asio::ip::tcp::socket socket, TlsContextPtr tls)
      : StreamOf(std::move(socket), tls->context), tls_(std::move(tls)) {}

  asio::awaitable<void> handshake(error_code& error) override {
    co_await inner.async_handshake(ssl::stream_base::server,
                                   asio::redirect_error(asio::use_awaitable, error));
    say_timeout(error);
  }

  asio::awaitable<void> handshake_as_client(error_code& error) {
    co_await inner.async_handshake(ssl::stream_base::client,
                                   asio::redirect_error(asio::use_awaitable, error));
    say_timeout(error);
  }

  asio::awaitable<size_t> read_some(asio::mutable_buffer into, error_code& error) override {
    const size_t count =
        co_await inner.async_read_some(into, asio::redirect_error(asio::use_awaitable, error));
    say_timeout(error);
    // Many servers close without the closing alert; the HTTP parser knows whether all came.
    if (error == ssl::error::stream_truncated) error = asio::error::eof;
    co_return count;
  }

  asio::awaitable<void> shutdown() override {
    error_code ignored;
    expires_after(milliseconds(2000));  // a peer that never answers must not hold us
    co_await inner.async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
  }

 private:
  TlsContextPtr tls_;  // outlives the stream that was made from it
};

std::unexpected<Diagnostic> bad_config(const std::string& file, const error_code& error) {
  return fail("tls-config", fmt::format("'{}' cannot be used for TLS: {}", file, error.message()),
              "it has to be a readable PEM file");
}

Result<void> load_own(ssl::context& context, const TlsOptions& options) {
  error_code error;
  if (options.cert_file.empty()) return {};
  context.use_certificate_chain_file(options.cert_file, error);
  if (error) return bad_config(options.cert_file, error);
  const std::string& key = options.key_file.empty() ? options.cert_file : options.key_file;
  context.use_private_key_file(key, ssl::context::pem, error);
  if (error) return bad_config(key, error);
  return {};
}

constexpr auto kNoOldVersions = ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                                ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1;

// Names what the certificate has to state, and what is sent so that the server can choose it.
void expect_name(SSL* handle, const std::string& host) {
  error_code no_address;
  asio::ip::make_address(host, no_address);
  if (no_address) {
    SSL_set_tlsext_host_name(handle, host.c_str());
    SSL_set1_host(handle, host.c_str());
  } else {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), host.c_str());
  }
}

Diagnostic refused(const Url& url, SSL* handle, const error_code& error) {
  const long verdict = SSL_get_verify_result(handle);
  if (verdict == X509_V_OK) {
    return {"tls-refused",
            fmt::format("{} does not speak TLS with us: {}", url.shown(), error.message()),
            {},
            "is it http:// rather than https://?"};
  }
  return {
      "tls-refused",
      fmt::format("{} cannot be trusted: {}", url.shown(), X509_verify_cert_error_string(verdict)),
      {},
      verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH
          ? "use the name that stands in its certificate"
          : "name the certificate authority's file (ca_file) that vouches for it"};
}

}  // namespace

Result<TlsContextPtr> make_tls_client(const TlsOptions& options) {
  auto tls = std::make_shared<TlsContext>(ssl::context::tls_client, options.verify);
  error_code error;
  tls->context.set_options(ssl::context::default_workarounds | kNoOldVersions, error);
  if (options.verify) tls->context.set_verify_mode(ssl::verify_peer, error);
  if (options.ca_file.empty())
    tls->context.set_default_verify_paths(error);
  else
    tls->context.load_verify_file(options.ca_file, error);
  if (error) return bad_config(options.ca_file, error);
  const auto own = load_own(tls->context, options);
  if (!own) return std::unexpected(own.error());
  return tls;
}

Result<TlsContextPtr> make_tls_server(const TlsOptions& options) {
  auto tls = std::make_shared<TlsContext>(ssl::context::tls_server, false);
  error_code error;
  tls->context.set_options(ssl::context::default_workarounds | kNoOldVersions, error);
  if (options.cert_file.empty())
    return fail("tls-config", "a TLS server needs a certificate", "set cert_file and key_file");
  const auto own = load_own(tls->context, options);
  if (!own) return std::unexpected(own.error());
  return tls;
}

StreamPtr make_stream(asio::ip::tcp::socket socket, TlsContextPtr tls) {
  return std::make_unique<TlsStream>(std::move(socket), std::move(tls));
}

asio::awaitable<Result<StreamPtr>> dial_tls(Url url, asio::ip::tcp::socket socket,
                                            TlsContextPtr tls, milliseconds limit) {
  if (!tls) {
    auto made = make_tls_client({});
    if (!made) co_return std::unexpected(made.error());
    tls = *made;
  }
  auto stream = std::make_unique<TlsStream>(std::move(socket), tls);
  SSL* const handle = stream->inner.native_handle();
  expect_name(handle, url.host);
  stream->expires_after(limit);
  error_code error;
  co_await stream->handshake_as_client(error);
  if (error == asio::error::timed_out) co_return std::unexpected(net_problem(url.shown(), error));
  if (error) co_return std::unexpected(refused(url, handle, error));
  co_return stream;
}

}  // namespace fairlead::io
