// The callbacks of a run, told one after the other.
#pragma once

#include "plimsoll/keras/callback.h"

namespace plimsoll::keras {

class CallbackList {
 public:
  CallbackList(std::vector<CallbackPtr> callbacks, std::shared_ptr<History> history, Model& model,
               Json params)
      : all_(std::move(callbacks)) {
    if (history) all_.push_back(std::move(history));
    for (const CallbackPtr& c : all_) {
      c->set_model(&model);
      c->set_params({params});
    }
  }

  void on_train_begin(const Logs& logs) { tell(&Callback::on_train_begin, logs); }
  void on_train_end(const Logs& logs) { tell(&Callback::on_train_end, logs); }
  void on_epoch_begin(std::int64_t n, const Logs& logs) {
    tell(&Callback::on_epoch_begin, n, logs);
  }
  void on_epoch_end(std::int64_t n, Logs& logs) {
    for (const CallbackPtr& c : all_) c->on_epoch_end(n, logs);
  }
  void on_train_batch_begin(std::int64_t n, const Logs& logs) {
    tell(&Callback::on_train_batch_begin, n, logs);
  }
  void on_train_batch_end(std::int64_t n, const Logs& logs) {
    tell(&Callback::on_train_batch_end, n, logs);
  }
  void on_test_begin(const Logs& logs) { tell(&Callback::on_test_begin, logs); }
  void on_test_end(const Logs& logs) { tell(&Callback::on_test_end, logs); }
  void on_test_batch_begin(std::int64_t n, const Logs& logs) {
    tell(&Callback::on_test_batch_begin, n, logs);
  }
  void on_test_batch_end(std::int64_t n, const Logs& logs) {
    tell(&Callback::on_test_batch_end, n, logs);
  }
  void on_predict_begin(const Logs& logs) { tell(&Callback::on_predict_begin, logs); }
  void on_predict_end(const Logs& logs) { tell(&Callback::on_predict_end, logs); }
  void on_predict_batch_begin(std::int64_t n, const Logs& logs) {
    tell(&Callback::on_predict_batch_begin, n, logs);
  }
  void on_predict_batch_end(std::int64_t n, const Logs& logs) {
    tell(&Callback::on_predict_batch_end, n, logs);
  }

 private:
  template <class Method, class... Args>
  void tell(Method method, const Args&... args) {
    for (const CallbackPtr& c : all_) (c.get()->*method)(args...);
  }

  std::vector<CallbackPtr> all_;
};

}  // namespace plimsoll::keras
