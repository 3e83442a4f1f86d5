#include "common/security_options.h"

namespace warpsmith {
namespace {

void AddFile(CLI::App& app, const char* flag, const char* variable, const char* description, std::string* value) {
  app.add_option(flag, *value, description)->type_name("FILE")->envname(variable)->group("Security");
}

}  // namespace

void AddClientSecurityOptions(CLI::App& app, SecuritySettings* settings) {
  AddFile(app, "--tls-ca", "WARPSMITH_TLS_CA",
          "PEM: the authorities that signed the server's certificate; turns TLS on", &settings->tls.ca);
  AddFile(app, "--tls-certificate", "WARPSMITH_TLS_CERTIFICATE", "PEM: this side's certificate, with its chain",
          &settings->tls.certificate);
  AddFile(app, "--tls-key", "WARPSMITH_TLS_KEY", "PEM: the certificate's key", &settings->tls.key);
  AddFile(app, "--token-file", "WARPSMITH_TOKEN_FILE", "holds the token to show; made by `warpsmith token new`",
          &settings->token_file);
}

void AddServerSecurityOptions(CLI::App& app, SecuritySettings* settings) {
  AddClientSecurityOptions(app, settings);
  AddFile(app, "--tls-client-ca", "WARPSMITH_TLS_CLIENT_CA",
          "PEM: every client must show a certificate that one of these authorities signed", &settings->tls.client_ca);
  AddFile(app, "--tokens", "WARPSMITH_TOKENS",
          "lines ROLE SHA256 NAME: who may call; needed where --listen is not on this machine's loopback",
          &settings->tokens);
}

}  // namespace warpsmith
