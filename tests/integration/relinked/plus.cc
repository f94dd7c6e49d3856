// A C++ program: exceptions, threads and containers across images of itself.
//
// SPDX-License-Identifier: Apache-2.0
#include <roost_checkpoint.h>

#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

struct early { // is made before main()
    std::string text = "early";
};
static early before_main;

int main()
{
    std::map<std::string, int> words;
    int result = 0;
    std::thread other([&] {
        for (int i = 0; i < 1000; i++) {
            words[std::to_string(i % 100)] += i;
        }
        result = roost_checkpoint();
    });
    other.join();
    try {
        throw std::runtime_error(before_main.text);
    } catch (const std::exception &error) {
        std::cout << result << ' ' << error.what() << ' ' << words.size() << ' ' << words["7"] << std::endl;
    }
}
